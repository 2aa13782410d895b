import type { Clock } from '../../../platform/clock.ts'
import { codeOf, type Refusal } from '../../../platform/errors.ts'
import { formOf, page } from '../../page.ts'
import { loginPath } from '../credentials/login-page.ts'
import type { Tables } from '../tables.ts'
import { setupForm } from './page.ts'
import { readForm, setupPath } from './rules.ts'
import { createSetupStore } from './store.ts'

/**
 * How the first account comes into being where there is no demo data: a link that the operator finds on the terminal. It lives until somebody
 * has signed in, so that an address or a password with a typing error locks nobody out; the last form that was sent counts.
 */
export interface Setup {
  /** Path and query of a new link, in place of the former one; null once somebody has signed in. */
  open(): Promise<string | null>
  /** Answers the link: the form, and what it sends. */
  handle(request: Request): Promise<Response>
}

const signInLink = `<p><a href="${loginPath}">Sign in</a></p>`

/** Makes the set-up of one platform. */
export function createSetup(tables: Tables, clock: Clock): Setup {
  const store = createSetupStore(tables)
  const dead = () =>
    page(
      410,
      'This link is dead',
      'Somebody has signed in since, or it is older than a day, or a later start has replaced it: as long as nobody has signed in, each start prints another.',
      signInLink,
    )

  return {
    async open() {
      const code = await store.open(clock.now())
      return code && `${setupPath}?code=${code}`
    },

    async handle(request) {
      if (request.method === 'GET') {
        const code = new URL(request.url).searchParams.get('code') ?? ''
        return (await store.stands(code, clock.now())) ? setupForm(code, new URLSearchParams()) : dead()
      }
      const form = await formOf(request)
      const code = form.get('code') ?? ''
      if (!(await store.stands(code, clock.now()))) return dead()
      try {
        const world = readForm(form)
        if (!(await store.redeem(code, world, clock.now()))) return dead()
        const [person] = world.people
        const sentence = `The account ${person!.email} is there. Sign in now: that ends this link. Until then the form can be sent again, should the address or the password be wrong.`
        return page(201, 'The platform is set up', sentence, signInLink)
      } catch (error) {
        if (codeOf(error) === 'INTERNAL_SERVER_ERROR') throw error
        return setupForm(code, form, (error as Refusal).message)
      }
    },
  }
}
