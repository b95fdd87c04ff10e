//! The public names of the futures.

/// A future of `condition` under a name of its own, with that future's output.
macro_rules! named_future {
    (
        $(#[$doc:meta])*
        pub struct $name:ident $(<$($generic:tt),+>)?($wait:ty) -> $output:ty
            $(where $bounded:ident: $bound:path)?;
    ) => {
        pin_project_lite::pin_project! {
            $(#[$doc])*
            #[must_use = "nothing is waited for until this is awaited: add `.await`, or wait without `_async` in a thread"]
            pub struct $name $(<$($generic),+>)?
            $(where $bounded: $bound)?
            {
                #[pin]
                wait: $wait,
            }
        }

        impl$(<$($generic),+>)? $name$(<$($generic),+>)?
        $(where $bounded: $bound)?
        {
            #[track_caller]
            pub(crate) fn of(wait: $wait) -> Self {
                Self { wait }
            }
        }

        impl$(<$($generic),+>)? std::future::Future for $name$(<$($generic),+>)?
        $(where $bounded: $bound)?
        {
            type Output = $output;

            fn poll(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<Self::Output> {
                self.project().wait.poll(cx)
            }
        }

        impl$(<$($generic),+>)? std::fmt::Debug for $name$(<$($generic),+>)?
        $(where $bounded: $bound)?
        {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name)).field("waiting", &self.wait.is_waiting()).finish_non_exhaustive()
            }
        }
    };
}

pub(crate) use named_future;
