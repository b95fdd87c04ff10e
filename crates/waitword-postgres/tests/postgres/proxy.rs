//! A way to the server that can be cut, stalled and made longer.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, UnixStream};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::server::Database;

/// What becomes of the connections that there are. New ones pass, unless all are stalled.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Passes,
    /// Nothing comes through, and nobody is told.
    Stalled,
    Cut,
}

pub(crate) struct Proxy {
    pub(crate) port: u16,
    way: Arc<Mutex<watch::Sender<Way>>>,
}

impl Proxy {
    /// In front of the server's socket. What goes to the server arrives `delay` later.
    pub(crate) async fn start(database: &Database, delay: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let socket = database.server.folder.join(format!(".s.PGSQL.{}", database.server.port));
        let way = Arc::new(Mutex::new(watch::channel(Way::Passes).0));
        tokio::spawn(accept(listener, socket, Arc::clone(&way), delay));
        Self { port, way }
    }

    /// Those that come later pass.
    pub(crate) fn stall_old_ones(&self) {
        let mut way = self.way.lock().unwrap();
        way.send_replace(Way::Stalled);
        // Theirs says so for ever.
        std::mem::forget(std::mem::replace(&mut *way, watch::channel(Way::Passes).0));
    }

    pub(crate) fn stall(&self) {
        self.way.lock().unwrap().send_replace(Way::Stalled);
    }

    pub(crate) fn cut(&self) {
        let mut way = self.way.lock().unwrap();
        way.send_replace(Way::Cut);
        *way = watch::channel(Way::Passes).0;
    }
}

async fn accept(
    listener: TcpListener,
    socket: PathBuf,
    way: Arc<Mutex<watch::Sender<Way>>>,
    delay: Duration,
) {
    while let Ok((client, _)) = listener.accept().await {
        client.set_nodelay(true).unwrap();
        let mut way = way.lock().unwrap().subscribe();
        let socket = socket.clone();
        tokio::spawn(async move {
            // It may be restarting: the client is told by the end of its connection.
            let Ok(server) = UnixStream::connect(socket).await else { return };
            let ((from_client, to_client), (from_server, to_server)) =
                (client.into_split(), server.into_split());
            let (there, back) = (way.clone(), way.clone());
            tokio::select! {
                () = carry(from_client, to_server, there, delay) => {}
                () = carry(from_server, to_client, back, Duration::ZERO) => {}
                _ = way.wait_for(|way| *way == Way::Cut) => {}
            }
        });
    }
}

async fn carry(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut way: watch::Receiver<Way>,
    delay: Duration,
) {
    let (mut buffer, mut under_way) = ([0; 16384], VecDeque::new());
    loop {
        let due = under_way.front().map(|(due, _): &(Instant, Vec<u8>)| *due);
        tokio::select! {
            read = from.read(&mut buffer) => {
                let Ok(read @ 1..) = read else {
                    // The end of a stalled connection does not come through either.
                    let _ = way.wait_for(|way| *way != Way::Stalled).await;
                    break;
                };
                under_way.push_back((Instant::now() + delay, buffer[..read].to_vec()));
            }
            () = async { sleep_until(due.unwrap()).await }, if due.is_some() => {
                let (_, bytes) = under_way.pop_front().unwrap();
                if way.wait_for(|way| *way != Way::Stalled).await.is_err() || to.write_all(&bytes).await.is_err() {
                    break;
                }
            }
        }
    }
}
