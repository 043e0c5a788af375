package main

import "C" // for malloc.c, which says how the C library allocates for the store
