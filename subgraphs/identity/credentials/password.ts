/** scrypt reads the whole password: nobody needs a longer one. */
export const longestPassword = 256

/**
 * Whether a password can be told from every other: the hash pads it with NULs and reads UTF-8, so with them at its end, or with
 * halves of characters, it would be the same as another. No keyboard types a control character into a field.
 */
export const isDistinct = (password: string): boolean => password.isWellFormed() && !/\p{Cc}/u.test(password)

export const distinctSentence = 'without control characters such as NUL or a line break'
