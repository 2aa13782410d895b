import { originNow } from '../../../../platform/caller/cause.ts'
import { crash } from '../../../../platform/crash.ts'
import { DomainError } from '../../../../platform/errors.ts'
import type { Authority } from '../../../authority.ts'
import { readFields } from '../../../http/body.ts'
import type { Handler } from '../../../http/handlers.ts'
import { record, type WriteTransaction } from '../../../store/books.ts'
import { inTransaction } from '../../../store/write.ts'
import type { Viewer } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { type Code, codeRefusal } from '../../stores/code.ts'
import type { Goer, HandoffDetails } from '../../stores/credentials/handoff.ts'
import type { ServiceEntryRow } from '../../stores/service-entry.ts'
import { openSession } from '../opening.ts'
import { accessTokenLifetime } from '../rules.ts'
import { mintHandoff } from './mint.ts'
import { bearerOf, isForPresenter, type Presenter } from './rules.ts'

const noStore = { 'cache-control': 'no-store' }

const described = ({ id, slug, title, icon }: ServiceEntryRow) => ({ id, slug, title, icon })

/** Handles `POST /identity/api/auth/handoff`. */
export const mintHandler =
  (contextOf: (viewer: Viewer, request: Request) => Context): Handler =>
  async (request, viewer) => {
    const { service, returnTo } = await readFields(request)
    const made = await mintHandoff(contextOf(viewer, request), bearerOf(viewer), { service, returnTo })
    return Response.json({ ...made, service: described(made.service) }, { status: 201, headers: noStore })
  }

interface ExchangeNeeds {
  contextOf(viewer: Viewer, request: Request): Context
  readonly authority: Pick<Authority, 'cookie'>
}

/**
 * Handles `POST /identity/api/auth/sso/exchange`: exchanges a handoff's code for a session, once. Every attempt uses
 * the code up: from a page of another service, from another browser, or by a person who lost the session or the
 * membership. Of several concurrent ones the first decides.
 */
export const ssoHandler =
  ({ contextOf, authority }: ExchangeNeeds): Handler =>
  async (request, viewer) => {
    const { code, serviceId } = await readFields(request)
    const presenter: Presenter = { origin: request.headers.get('origin'), serviceId }
    const isFor = (target: ServiceEntryRow) => isForPresenter(target, presenter)
    const hasCookie = presenter.origin !== null
    const browser = await authority.cookie(request.headers)
    const inBrowserOf = browser === null || browser === 'stale' ? null : browser.userId
    const context = contextOf(viewer, request)
    const entries = await context.serviceEntries.manyBy('environment').load(context.environment)
    // Refusals are audited too, so they are thrown after the transaction.
    const done = await inTransaction(context, async unit => {
      const held = await context.codes.hold('handoff', code, unit)
      await context.codes.use(held, unit.transaction)
      crash('handoff-code-used')
      const entered = await enter(context, held, { isFor, hasCookie, inBrowserOf, entries }, unit)
      crash('handoff-entered')
      return entered
    })
    crash('after-handoff')
    if ('refusal' in done) throw done.refusal
    const { cookies, ...answer } = done
    const headers = new Headers(noStore)
    if (hasCookie) for (const line of cookies) headers.append('set-cookie', line)
    return Response.json(answer, { headers })
  }

interface AdminNeeds {
  contextOf(viewer: Viewer, request: Request): Context
  /** Whether pages of an origin may open the admin session. */
  isOurs(origin: string): boolean
}

/**
 * Handles `POST /launcher/api/admin/session`: exchanges a handoff's code to the launcher for the token of a platform
 * admin, without a cookie. Every attempt uses the code up.
 */
export const adminHandler =
  ({ contextOf, isOurs }: AdminNeeds): Handler =>
  async (request, viewer) => {
    const { code } = await readFields(request)
    const origin = request.headers.get('origin')
    const context = contextOf(viewer, request)
    const entries = await context.serviceEntries.manyBy('environment').load(context.environment)
    const done = await inTransaction(context, async unit => {
      const held = await context.codes.hold('handoff', code, unit)
      await context.codes.use(held, unit.transaction)
      const isFor = ({ slug }: ServiceEntryRow) => slug === 'launcher'
      const mayEnter = ({ roles }: Goer) => (origin === null || isOurs(origin)) && roles?.some(role => platformRoles.has(role)) === true
      return enter(context, held, { isFor, mayEnter, hasCookie: false, inBrowserOf: null, entries }, unit)
    })
    if ('refusal' in done) throw done.refusal
    const { accessToken, expiresAt, returnTo } = done
    return Response.json({ accessToken, expiresAt, returnTo }, { headers: noStore })
  }

/** Roles of those who look after the platform; they are given in organization `admin` alone. */
const platformRoles: ReadonlySet<string> = new Set(['platform_admin', 'platform_super_admin'])

const notAdmin = () => new DomainError('FORBIDDEN', 'Only platform admins open this, from a page of the platform.')

interface Presented {
  /** Whether the code is for the service of whoever presents it. */
  isFor(target: ServiceEntryRow): boolean
  /** Whether the person may come in here. @default everybody may */
  mayEnter?(person: Goer): boolean
  /** Whether the session is a browser's; that of a program ends with its token. */
  readonly hasCookie: boolean
  /** Session of the browser that sends the code. */
  readonly inBrowserOf: string | null
  readonly entries: readonly ServiceEntryRow[]
}

async function enter(
  context: Context,
  { subject: userId, details }: Code,
  { isFor, mayEnter, hasCookie, inBrowserOf, entries }: Presented,
  unit: WriteTransaction,
) {
  const handoff = details as HandoffDetails
  const { handoffId, serviceId, organizationId, sessionId, returnTo } = handoff
  const target = entries.find(({ id, lifecycle }) => id === serviceId && lifecycle !== 'retired')
  const note = (action: 'handoff.exchanged' | 'handoff.refused', actor: string, more: object) =>
    record(
      context,
      { tenantId: organizationId ?? userId, personId: userId, actor, action, subjectId: handoffId, details: { service: target?.slug ?? serviceId, ...more } },
      unit,
    )
  const refuse = async (reason: 'TARGET' | 'ENDED' | 'OTHER_USER' | 'ROLE', refusal: DomainError) => {
    await note('handoff.refused', 'anonymous', { reason })
    return { refusal }
  }
  if (!target || !isFor(target)) return refuse('TARGET', codeRefusal())
  const person = await context.handoffs.goer(userId, handoff, unit.now, unit.transaction)
  if (!person) return refuse('ENDED', codeRefusal())
  if (mayEnter && !mayEnter(person)) return refuse('ROLE', notAdmin())
  if (inBrowserOf !== null && inBrowserOf !== userId) return refuse('OTHER_USER', otherUser())
  const { address = null, agent = null } = originNow() ?? {}
  const session = await openSession(
    context,
    {
      userId,
      kind: 'handoff',
      organizationId,
      context: organizationId === null ? 'personal' : 'organization',
      originSessionId: sessionId,
      // A program has no cookie to renew its token with.
      ...(!hasCookie && { expiresAt: new Date(unit.now.getTime() + accessTokenLifetime) }),
      from: { ipAddress: address, userAgent: agent },
    },
    unit,
  )
  await note('handoff.exchanged', `user:${userId}`, { sessionId: session.sessionId })
  const { cookies, accessToken, expiresAt } = session
  const { id, name, email } = person
  return {
    cookies,
    accessToken,
    expiresAt: expiresAt.toISOString(),
    user: { id, email, name },
    service: described(target),
    context: organizationId === null ? 'personal' : 'organization',
    organizationId,
    returnTo,
  }
}

const otherUser = () =>
  new DomainError('CONFLICT', 'Another person is signed in with this browser: sign out first, and open the service again.', { reason: 'OTHER_USER' })
