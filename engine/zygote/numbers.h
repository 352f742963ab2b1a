/* The numbers of the files of the store go on from one incarnation to the next: a file of the run
 * folder keeps them. */
#ifndef ENGINE_ZYGOTE_NUMBERS_H
#define ENGINE_ZYGOTE_NUMBERS_H

void numbers_read(const char *folder);
void numbers_write(const char *folder);

#endif
