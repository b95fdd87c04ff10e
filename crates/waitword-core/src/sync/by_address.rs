//! A small map from addresses to values, in the order of the addresses.

/// A sorted list. A map of the standard library would add as much code as a quarter of this crate.
#[derive(Clone, Debug, Default)]
pub(crate) struct ByAddress<T>(Vec<(usize, T)>);

impl<T> ByAddress<T> {
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }

    fn place(&self, address: usize) -> Result<usize, usize> {
        self.0.binary_search_by_key(&address, |&(address, _)| address)
    }

    /// Inserts the value, in place of the one at this address, if there is one.
    pub(crate) fn insert(&mut self, address: usize, value: T) {
        match self.place(address) {
            Ok(place) => self.0[place].1 = value,
            Err(place) => self.0.insert(place, (address, value)),
        }
    }

    pub(crate) fn remove(&mut self, address: usize) {
        if let Ok(place) = self.place(address) {
            self.0.remove(place);
        }
    }

    pub(crate) fn get(&self, address: usize) -> Option<&T> {
        self.place(address).ok().map(|place| &self.0[place].1)
    }

    /// For `fork`.
    #[cfg(any(unix, test))]
    pub(crate) fn values(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|(_, value)| value)
    }

    /// Adds the values of `other`. They replace those at the same addresses.
    pub(crate) fn merge(&mut self, other: Self) {
        other.0.into_iter().for_each(|(address, value)| self.insert(address, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_their_address_and_in_its_order() {
        let (mut all, mut others) = (ByAddress::new(), ByAddress::new());
        for (address, value) in [(3, 'c'), (1, 'x'), (2, 'b'), (1, 'a')] {
            all.insert(address, value);
        }
        assert_eq!(all.values().collect::<String>(), "abc");
        assert_eq!((all.get(2), all.get(4)), (Some(&'b'), None));
        others.insert(4, 'd');
        others.insert(2, 'B');
        all.merge(others);
        all.remove(1);
        all.remove(7);
        assert_eq!(all.values().collect::<String>(), "Bcd");
    }
}
