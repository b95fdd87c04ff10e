// An empty program: the runner takes the time from the start of its process to its exit.
