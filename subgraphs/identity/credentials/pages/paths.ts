/** Path of the sign-in page. */
export const loginPath = '/identity/login'

/** Path of the page for a forgotten password, and of its link. */
export const resetPath = '/identity/reset-password'

/** Path of the sign-up page, if everyone may sign up. */
export const signUpPath = '/identity/sign-up'

/** Path of the page that verifies an address, or sends another mail for it. */
export const verifyPath = '/identity/verify-email'
