import { randomBytes } from 'node:crypto'
import type { Clock } from '../../../platform/clock.ts'
import { codeOf, type Refusal } from '../../../platform/errors.ts'
import { formOf, htmlPage } from '../../html.ts'
import { inTransaction } from '../../store/write.ts'
import type { Job } from '../context.ts'
import { loginPath } from '../credentials/login-page.ts'
import { setupForm } from './page.ts'
import { provisionWithin } from './provision.ts'
import { hashCode, readForm, setupPath } from './rules.ts'
import type { World } from './world.ts'

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
export function createSetup(open: () => Job, clock: Clock): Setup {
  const stands = (code: string) => open().setupLinks.stands(hashCode(code), clock.now())
  const dead = () =>
    htmlPage(
      410,
      'This link is dead',
      'Somebody has signed in since, or it is older than a day, or a later start has replaced it: as long as nobody has signed in, each start prints another.',
      signInLink,
    )

  return {
    async open() {
      const code = randomBytes(32).toString('base64url')
      return (await open().setupLinks.replace(hashCode(code), clock.now())) ? `${setupPath}?code=${code}` : null
    },

    async handle(request) {
      if (request.method === 'GET') {
        const code = new URL(request.url).searchParams.get('code') ?? ''
        return (await stands(code)) ? setupForm(code, new URLSearchParams()) : dead()
      }
      const form = await formOf(request)
      const code = form.get('code') ?? ''
      if (!(await stands(code))) return dead()
      try {
        const world = readForm(form)
        if (!(await redeem(open(), code, world))) return dead()
        const [person] = world.people
        const sentence = `The account ${person!.email} is there. Sign in now: that ends this link. Until then the form can be sent again, should the address or the password be wrong.`
        return htmlPage(201, 'The platform is set up', sentence, signInLink)
      } catch (error) {
        if (codeOf(error) === 'INTERNAL_SERVER_ERROR') throw error
        return setupForm(code, form, (error as Refusal).message)
      }
    },
  }
}

/**
 * Makes the world of the form in place of the one that the form made before, while nobody has signed in. Forms that come at once are taken
 * one after another.
 * @returns false when the link is not good any more, and nothing has changed
 */
const redeem = (job: Job, code: string, world: World): Promise<boolean> =>
  inTransaction(job, async unit => {
    const { setupLinks } = job
    if (!(await setupLinks.lock(hashCode(code), unit.now, unit.transaction))) return false
    await setupLinks.takeBack(unit.transaction)
    const { users } = await provisionWithin(job, world, unit)
    await setupLinks.note(users[world.people[0]!.email]!, unit.now, unit.transaction)
    return true
  })
