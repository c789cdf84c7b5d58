"""Floor 2, when: values, the recorder, the trie of programs, and how a program is planned, compiled and run."""
