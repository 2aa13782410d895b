import { codeOf } from '../../../../platform/errors.ts'
import type { Handler, Handlers } from '../../../http/handlers.ts'
import { escaped, htmlPage, type Sentence } from '../../../http/html.ts'
import { type Forms, notOwn, type RowAnswer, refusedPage } from '../../http/form.ts'
import type { CodePurpose } from '../../stores/code.ts'
import type { AccountGround } from '../account/ground.ts'
import { credentialsPath } from '../names.ts'
import { loginPath, resetPath, signUpPath, verifyPath } from './paths.ts'

const signIn = `<p><a href="${loginPath}">Sign in</a></p>`
const mailField = (value = '') => `<label>Mail address<input name="email" type="email" autocomplete="username" required value="${escaped(value)}"></label>`
const newPasswordField = (name: string) =>
  `<label>${name === 'password' ? 'Password' : 'New password'}, 12 characters at least<input name="${name}" type="password" autocomplete="new-password" minlength="12" required></label>`
/** Hidden field that tells password managers which account a new password is for. */
export const usernameField = (account: string) => `<label hidden>Account<input type="email" autocomplete="username" value="${escaped(account)}"></label>\n`
const button = (does: string) => `<button>${does}</button>`

/** What the page shows at first, or again after an error. */
interface Shown {
  readonly status: number
  readonly sentence: Sentence
  readonly fields: string
  readonly hidden?: Readonly<Record<string, string>>
  readonly title?: string
}

/** A page: its texts with and without a code, and the route that its form calls. */
interface Page {
  readonly path: string
  readonly title: string
  /** Builds the form. @param typed earlier input to show again @param account address of the code's account */
  readonly form: (typed: URLSearchParams, account: string | null) => Pick<Shown, 'sentence' | 'fields' | 'hidden' | 'title'>
  /** Builds the route's request from the form's fields. */
  readonly asks: (sent: URLSearchParams) => { readonly row: string; readonly body: Readonly<Record<string, string>> }
  /** Returns the text after success. */
  readonly says: (sent: URLSearchParams, answer: RowAnswer) => { readonly title: string; readonly sentence: Sentence; readonly below: string }
  /** Purposes of codes that the page accepts. */
  readonly code: readonly CodePurpose[]
  readonly below?: string
}

const field = (sent: URLSearchParams, name: string): string => sent.get(name) ?? ''

/** Text after a request by address: the same for every reader. */
const mailed = (what: string) => ({
  title: 'Look into your mail',
  sentence: `If ${what}, a mail is on its way. It may take a minute; look among unwanted mail too.`,
  below: signIn,
})

const askForReset = {
  sentence: 'Tell us the mail address of your account, or its recovery address: we send you a link by which you choose a new password.',
  button: 'Send the link',
}

const pages: readonly Page[] = [
  {
    path: verifyPath,
    title: 'Confirm your mail address',
    code: ['verify-email', 'confirm-email'],
    form: typed =>
      typed.has('code')
        ? { sentence: 'One step is left: say that this mail address is yours.', fields: button('Confirm'), hidden: { code: field(typed, 'code') } }
        : {
            title: 'Ask for another mail',
            sentence: 'Tell us the mail address that you signed up with: we send you another link to confirm it.',
            fields: `${mailField(field(typed, 'email'))}\n${button('Send the link')}`,
          },
    asks: sent =>
      sent.has('code')
        ? { row: '/verify-email', body: { code: field(sent, 'code') } }
        : { row: '/send-verification-email', body: { email: field(sent, 'email') } },
    says: (sent, { body }) =>
      sent.has('code')
        ? {
            title: 'Your mail address is confirmed',
            sentence: ['From now on you sign in with ', { name: String(body.email) }, '.'],
            below: signIn,
          }
        : mailed('an account waits for its address to be confirmed'),
  },
  {
    path: resetPath,
    title: 'Choose a new password',
    code: ['reset-password'],
    form: (typed, account) =>
      typed.has('code')
        ? {
            sentence: account
              ? ['For the account ', { name: account }, '. Whoever is signed in to it is signed out then, you too.']
              : 'Every session of the account is signed out then, this one too.',
            fields: `${account ? usernameField(account) : ''}${newPasswordField('newPassword')}\n${button('Set the password')}`,
            hidden: { code: field(typed, 'code') },
          }
        : { title: 'Forgot your password?', sentence: askForReset.sentence, fields: `${mailField(field(typed, 'email'))}\n${button(askForReset.button)}` },
    asks: sent =>
      sent.has('code')
        ? { row: '/reset-password', body: { code: field(sent, 'code'), newPassword: field(sent, 'newPassword') } }
        : { row: '/request-password-reset', body: { email: field(sent, 'email') } },
    says: sent =>
      sent.has('code')
        ? { title: 'Your password is set', sentence: 'Sign in with it now. Everybody who was signed in to the account is signed out.', below: signIn }
        : mailed('an account has this address'),
    below: signIn,
  },
  {
    path: '/identity/verify-recovery-email',
    title: 'Confirm the recovery address',
    code: ['verify-recovery-email'],
    form: (typed, account) => ({
      sentence: account
        ? ['By this address the password of the account ', { name: account }, ' can be reset, should you lose it.']
        : 'By this address the password of your account can be reset, should you lose it.',
      fields: button('Confirm'),
      hidden: { code: field(typed, 'code') },
    }),
    asks: sent => ({ row: '/verify-recovery-email', body: { code: field(sent, 'code') } }),
    says: (_, { body }) => ({
      title: 'The recovery address is confirmed',
      sentence: ['From now on ', { name: String(body.email) }, ' helps you, should you forget your password.'],
      below: signIn,
    }),
  },
  {
    path: signUpPath,
    title: 'Create an account',
    code: [],
    form: typed => ({
      sentence: 'We send a link to your mail address, by which you confirm it.',
      fields: `<label>Your name<input name="name" autocomplete="name" maxlength="120" required value="${escaped(field(typed, 'name'))}"></label>
${mailField(field(typed, 'email'))}
${newPasswordField('password')}
${button('Create the account')}`,
    }),
    asks: sent => ({ row: '/sign-up/email', body: { name: field(sent, 'name'), email: field(sent, 'email'), password: field(sent, 'password') } }),
    says: () => ({
      title: 'Look into your mail',
      sentence: 'There is a link in it by which you confirm your address; then you can sign in. It may take a minute; look among unwanted mail too.',
      below: `<p>No mail? <a href="${verifyPath}">Ask for another</a>.</p>${signIn}`,
    }),
    below: `<p>You have an account? <a href="${loginPath}">Sign in</a></p>`,
  },
]

/** Labels of fields on pages. */
const labels: Readonly<Record<string, string>> = { newPassword: 'The new password', password: 'The password', email: 'The mail address', name: 'Your name' }

/** Turns a route's error message, which begins with a field's name, into one for people. */
const inWords = (detail: string): string => detail.replace(/^\w+/, word => labels[word] ?? word)

/** Page for an invalid link, with what to do. */
const deadLink = (path: string): Response =>
  htmlPage(
    410,
    'This link is not good any more',
    'Each link works once and for a limited time, and a newer mail ends the ones before.',
    `${path === '/identity/verify-recovery-email' ? '<p>Name the recovery address again in your account: you get another mail.</p>' : `<p><a href="${path}">Ask for another</a></p>`}${signIn}`,
  )

/**
 * Pages by which people create and recover their account. Opening one changes nothing, because mail scanners open every
 * link.
 */
export function accountPages({ clock, contexts, signUp }: Pick<AccountGround, 'clock' | 'contexts' | 'signUp'>, forms: Forms, rows: Handlers): Handlers {
  const exchangesOf = (page: Page): [string, Handler][] => {
    const show = (typed: URLSearchParams, account: string | null, status = 200, mistake?: string): Response => {
      const { title = page.title, sentence, fields, hidden } = page.form(typed, account)
      return forms.page(page.path, {
        status,
        title,
        sentence: mistake ?? sentence,
        fields,
        ...(hidden && { hidden }),
        ...(page.below && { below: page.below }),
      })
    }
    /** The account that a code is about; null for a code that is not good. */
    const standing = async (code: string | null): Promise<{ readonly account: string | null } | null> => {
      const { codes, accounts } = contexts.systemContext('platform')
      try {
        const { subject } = await codes.find(page.code, code, clock.now())
        return { account: (await accounts.byId(subject))?.email ?? null }
      } catch (error) {
        if (codeOf(error) === 'INTERNAL_SERVER_ERROR') throw error
        return null
      }
    }
    return [
      [
        `GET ${page.path}`,
        async request => {
          const { searchParams } = new URL(request.url)
          if (page.path === signUpPath && signUp === 'invited') return invitedOnly()
          // Only a mailed link contains a code; no other query parameter is shown.
          const code = searchParams.get('code')
          const needsCode = page.path === '/identity/verify-recovery-email'
          if (page.code.length === 0 || (code === null && !needsCode)) return show(new URLSearchParams(), null)
          const about = await standing(code)
          return about ? show(new URLSearchParams({ code: code! }), about.account) : deadLink(page.path)
        },
      ],
      [
        `POST ${page.path}`,
        async (request, viewer) => {
          const { fields, isOwn } = await forms.read(request)
          if (!isOwn) return show(fields, null, 400, notOwn)
          const { row, body } = page.asks(fields)
          const path = `${credentialsPath}${row}`
          const answer = await forms.ask(rows[`POST ${path}`]!, request, path, body, viewer)
          if (answer.ok) {
            const { title, sentence, below } = page.says(fields, answer)
            return htmlPage(200, title, sentence, below)
          }
          if (answer.body.reason === 'CODE') return deadLink(page.path)
          const about = await standing(fields.get('code'))
          return refusedPage(show(fields, about?.account ?? null, answer.status, inWords(String(answer.body.detail))), answer)
        },
      ],
    ]
  }
  return Object.fromEntries(pages.flatMap(exchangesOf))
}

const invitedOnly = (): Response =>
  htmlPage(403, 'Accounts are made by invitation', 'Ask a member of your organization for one: its mail has the link.', signIn)
