import { randomBytes } from 'node:crypto'
import { hashOfSecret } from '../../../platform/cipher.ts'
import type { Clock } from '../../../platform/clock.ts'
import { codeOf, type DomainError } from '../../../platform/errors.ts'
import { formOf, htmlPage } from '../../http/html.ts'
import { inTransaction } from '../../store/write.ts'
import type { Job } from '../context.ts'
import { loginPath } from '../credentials/pages/paths.ts'
import { setupForm } from './page.ts'
import { provisionWithin } from './provision.ts'
import { readForm, setupPath } from './rules.ts'
import type { World } from './world.ts'

/**
 * Creates the first account of a platform without demo data: by a link that the operator finds in a file or on the
 * terminal. The link is valid until somebody has signed in, so that a typing error in address or password locks nobody
 * out; the last submitted form counts.
 */
export interface Setup {
  /**
   * Creates a new link that replaces the former one.
   * @param keep receives path and query before the link is valid; when it throws, the former link stays
   * @returns path and query; null once somebody has signed in
   */
  open(keep?: (link: string) => void): Promise<string | null>
  /** Handles the link: shows the form, and processes it. */
  handle(request: Request): Promise<Response>
}

const signInLink = `<p><a href="${loginPath}">Sign in</a></p>`

/**
 * Creates the set-up of one platform.
 * @param issuer another issuer that signs people in: then the first owner has no password here, and is recognized by
 * the address
 */
export function createSetup(open: () => Job, clock: Clock, issuer: string | null = null): Setup {
  const stands = (code: string) => open().setupLinks.stands(hashOfSecret(code), clock.now())
  const dead = () =>
    htmlPage(
      410,
      'This link is dead',
      'A person has signed in since, it is older than a day, or a later start has replaced it: each start creates another one until the first person has signed in.',
      signInLink,
    )

  return {
    open(keep = () => {}) {
      const code = randomBytes(32).toString('base64url')
      const job = open()
      return inTransaction(job, async ({ now, transaction }) => {
        if (!(await job.setupLinks.replace(hashOfSecret(code), now, transaction))) return null
        const link = `${setupPath}?code=${code}`
        keep(link)
        return link
      })
    },

    async handle(request) {
      if (request.method === 'GET') {
        const code = new URL(request.url).searchParams.get('code') ?? ''
        return (await stands(code)) ? setupForm(code, new URLSearchParams(), issuer) : dead()
      }
      const form = await formOf(request)
      const code = form.get('code') ?? ''
      if (!(await stands(code))) return dead()
      try {
        const world = readForm(form, issuer === null)
        if (!(await redeem(open(), code, world))) return dead()
        const [person] = world.people
        if (issuer !== null)
          return htmlPage(
            201,
            'The platform is set up',
            `Sign in at ${issuer} with the address ${person!.email}, which it must have verified: the person with that address owns the organization. Until then the form can be sent again.`,
            '',
          )
        const sentence = `The account ${person!.email} is there. Sign in now: that ends this link. Until then the form can be sent again, should the address or the password be wrong.`
        return htmlPage(201, 'The platform is set up', sentence, signInLink)
      } catch (error) {
        if (codeOf(error) === 'INTERNAL_SERVER_ERROR') throw error
        return setupForm(code, form, issuer, (error as DomainError).message)
      }
    },
  }
}

/**
 * Replaces the world of an earlier form with that of a new one, while nobody has signed in. Concurrent forms are
 * processed one after another.
 * @returns false when the link is no longer valid, and nothing has changed
 */
const redeem = (job: Job, code: string, world: World): Promise<boolean> =>
  inTransaction(job, async unit => {
    const { setupLinks } = job
    if (!(await setupLinks.lock(hashOfSecret(code), unit.now, unit.transaction))) return false
    await setupLinks.takeBack(unit.transaction)
    const { users } = await provisionWithin(job, world, unit)
    await setupLinks.note(users[world.people[0]!.email]!, unit.now, unit.transaction)
    return true
  })
