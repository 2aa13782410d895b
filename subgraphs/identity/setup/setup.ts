import type { Clock } from '../../../platform/clock.ts'
import { codeOf, type Refusal } from '../../../platform/errors.ts'
import { page } from '../../page.ts'
import type { Tables } from '../tables.ts'
import { setupForm } from './page.ts'
import { provision } from './provision.ts'
import { readForm, setupPath } from './rules.ts'
import { createSetupStore } from './store.ts'

/** The longest form that is read, in bytes. */
const longestForm = 16 * 1024

/** How the first account comes into being where there is no demo data: a link that the operator finds on the terminal, once. */
export interface Setup {
  /** Path and query of a new link, in place of the former one; null when somebody has an account already. */
  open(): Promise<string | null>
  /** Answers the link: the form, and what it sends. */
  handle(request: Request): Promise<Response>
}

/** Makes the set-up of one platform. */
export function createSetup(tables: Tables, clock: Clock): Setup {
  const store = createSetupStore(tables)
  const dead = () => page(410, 'This link is dead', 'It was used, is older than a day, or a later start has replaced it. Start the platform to get another.')

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
        // Used up first: of two who send the form at once, one makes an account. What fails after this is mended by another start.
        if (!(await store.redeem(code, clock.now()))) return dead()
        await provision(tables, world, clock.now())
        const [person] = world.people
        return page(201, 'The platform is set up', `${person!.email} can sign in now. This link is dead.`)
      } catch (error) {
        if (codeOf(error) === 'INTERNAL_SERVER_ERROR') throw error
        return setupForm(code, form, (error as Refusal).message)
      }
    },
  }
}

async function formOf(request: Request): Promise<URLSearchParams> {
  const body = await request.bytes()
  const isForm = request.headers.get('content-type')?.startsWith('application/x-www-form-urlencoded')
  return new URLSearchParams(isForm && body.byteLength <= longestForm ? new TextDecoder().decode(body) : '')
}
