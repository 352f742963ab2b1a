/* The decisions of an incarnation as a file: a line each, "next 2 5" for possibility 2 of 0 to 4.
 */
#ifndef ENGINE_ZYGOTE_CHOICES_H
#define ENGINE_ZYGOTE_CHOICES_H

/* From the environment: the seed, and the run folder whose decisions are followed first, as far as
 * they go. Ends the process with a message when they cannot be read. */
void choices_open(int incarnation);

/* Writes those that were taken to the run folder (ENGINE_CHOICES_FILE.INCARNATION). */
void choices_write(const char *folder, int incarnation);

#endif
