const { dataset, lang } = document.documentElement

/** The app whose pages these are. */
export const app: string = dataset.app ?? ''

/** What stands before each path: nothing on the app's own host, its prefix on the platform's. */
export const base: string = dataset.base ?? ''

/** The language that the server chose. */
export const language: string = lang

/** Where numbers and dates are written as this reader's system does, in the page's language. */
export const locale: string = navigator.languages.find(each => each.split('-')[0] === lang.split('-')[0]) ?? lang

/** Apps on whose hosts identity's routes are found without its prefix. */
const passing = ['launcher', 'publishing']

/** The address of one of identity's routes, on this page's own origin. */
export const authPath = (route: string): string => `${base === '' && passing.includes(app) ? '' : '/identity'}/api/auth/${route}`
