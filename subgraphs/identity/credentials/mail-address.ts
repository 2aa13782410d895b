/** The most characters of a mail address (RFC 5321 §4.5.3.1: 64 before the @, 255 after it). */
const mostCharacters = 320

// PostgreSQL cannot hold a NUL, nor half a surrogate pair; no other control character belongs into an address either.
const form = /^[^\s@\p{Cc}\p{Cs}]+@[^\s@\p{Cc}\p{Cs}]+$/u

/** Whether something can be the address of an account: two parts around one @, without blanks and control characters. */
export const isMailAddress = (value: unknown): value is string => typeof value === 'string' && value.length <= mostCharacters && form.test(value)
