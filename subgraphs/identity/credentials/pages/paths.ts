/** Where a person signs in with a browser. */
export const loginPath = '/identity/login'

/** Where somebody who has forgotten the password asks for a link, and the page that it leads to. */
export const resetPath = '/identity/reset-password'

/** Where somebody makes an account, if everybody may. */
export const signUpPath = '/identity/sign-up'

/** Where an address is confirmed, and another mail for that is asked for. */
export const verifyPath = '/identity/verify-email'
