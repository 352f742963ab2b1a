/* The numbers of the files of the store go on from one incarnation to the next: a file of the run
 * folder keeps them. */
#ifndef ENGINE_ZYGOTE_NUMBERS_H
#define ENGINE_ZYGOTE_NUMBERS_H

/* The inodes of the files that the ranks of the run have made, in the order of their making: as an
 * earlier incarnation left them in the run folder, and for the next one. */
void numbers_read(const char *folder);
void numbers_write(const char *folder);

#endif
