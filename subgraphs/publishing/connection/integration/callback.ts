import { setTimeout as sleep } from 'node:timers/promises'
import { DomainError, statusOf } from '../../../../platform/errors.ts'
import { browserCookie, fingerprintOf, newSecret, readBrowserSecret } from '../../../http/browser.ts'
import { write } from '../../../store/write.ts'
import type { Viewer } from '../../../viewer.ts'
import type { Job } from '../../context.ts'
import type { SetUp } from '../../network/account/applications.ts'
import { organizationOf } from '../../network/account/organization.ts'
import { GrantFailure, type Network, type Platform } from '../../network/network.ts'
import { everyNetwork } from '../../network/networks.ts'
import { registration } from '../../registration.ts'
import { type AuthorizationRow, exchangeMs } from '../../stores/authorization.ts'
import { requireInUse } from '../../stores/brand.ts'
import { healthFollows } from '../health.ts'
import { RightsOfWhoConnectsDocument } from './ask.generated.ts'
import { confirmationPage, connectedPage, nothingConnected, onceMorePage } from './pages.ts'
import { readinessWith } from './readiness.ts'
import { callbackUrl, connectable, isProgram, requireManages } from './rules.ts'

/** Interval in ms at which a request checks whether another one has finished exchanging the same code. */
const lookEveryMs = 250

/**
 * Answers a network's redirect (RFC 6749 §4.1.2): exchanges the code, stores the connection, and shows the result on a
 * page. It needs no session: the state identifies the person, the brand and the browser.
 *
 * An attacker could lure a person to the network with the attacker's state, and so connect that person's account to the
 * attacker's brand. Therefore a flow that began in a browser completes in that browser only, and one that a program
 * began is shown and confirmed before the exchange.
 */
export async function callback(job: Job, platform: Platform, request: Request, viewer: Viewer): Promise<Response> {
  const { authorizations, brands, clock, publicUrl } = job
  const { title } = everyNetwork[platform]
  const parameters = new URL(request.url).searchParams
  const state = parameters.get('state')
  const begun = state ? await authorizations.find(state, platform, clock.now()) : null
  if (!begun || !state) return nothingConnected(400, 'This link was not begun here, or more than ten minutes ago. Start the connection again.')
  const secret = readBrowserSecret(request.headers.get('cookie'), publicUrl)
  const isSame = begun.browserHash !== null && secret !== null && fingerprintOf(secret) === begun.browserHash
  if (begun.usedAt) return isSame ? connectedBefore(job, platform, begun) : nothingConnected(400, 'This link was used before. Start the connection again.')
  if (begun.browserHash !== null && !isSame) return nothingConnected(400, 'This connection was begun in another browser, and only that browser can finish it.')
  if (parameters.has('error')) {
    await authorizations.use(begun, null, clock.now())
    return nothingConnected(400, `${title} reports that access was not given. Start the connection again if that was not what you wanted.`)
  }
  if (isSame || isProgram(request.headers, publicUrl)) return complete(job, begun, { state, parameters, viewer })
  const kept = secret ?? newSecret()
  const token = newSecret()
  await authorizations.askToConfirm(begun, fingerprintOf(`${token}:${kept}`), clock.now())
  const brand = await brands.byId.load(begun.brandId)
  const shown = confirmationPage({ platform, begun, brandName: brand?.name ?? 'a brand', token, parameters })
  if (secret === null) shown.headers.append('set-cookie', browserCookie(kept, publicUrl))
  return shown
}

/** Handles a confirmation page's form, from the browser that showed the page. */
export async function confirmed(job: Job, platform: Platform, request: Request, viewer: Viewer): Promise<Response> {
  const { authorizations, clock, publicUrl } = job
  const parameters = new URLSearchParams(await request.text())
  const token = parameters.get('token') ?? ''
  parameters.delete('token')
  const state = parameters.get('state')
  const secret = readBrowserSecret(request.headers.get('cookie'), publicUrl)
  const begun = state && secret ? await authorizations.find(state, platform, clock.now()) : null
  if (!begun || !state || !secret) return nothingConnected(400, 'This page is too old, or the browser keeps no cookies. Start the connection again.')
  const isKnown = begun.browserHash === fingerprintOf(secret)
  if (!isKnown && !(await authorizations.confirm(begun, fingerprintOf(`${token}:${secret}`), fingerprintOf(secret), clock.now())))
    return nothingConnected(400, 'This page was not shown here, or another one after it. Start the connection again.')
  if (begun.usedAt) return connectedBefore(job, platform, begun)
  return complete(job, begun, { state, parameters, viewer, wasConfirmed: true })
}

/** Shows the result of a used authorization again. */
async function connectedBefore({ brands, connections }: Job, platform: Platform, { brandId, connectionId }: AuthorizationRow): Promise<Response> {
  const connection = await connections.find(connectionId)
  const brand = await brands.byId.load(brandId)
  if (!connection) return nothingConnected(400, 'This link was used before, in vain. Start the connection again.')
  return connectedPage(platform, connection.accountName, brand?.name ?? 'the brand')
}

interface Answer {
  readonly state: string
  readonly parameters: URLSearchParams
  /** Viewer of the forwarded request. */
  readonly viewer: Viewer
  /** Whether a person had to read a page first: the network's code may have run out meanwhile. @default false */
  readonly wasConfirmed?: boolean
}

/**
 * Exchanges the code and stores the connection, once; a page that is loaded again meanwhile waits and shows the same
 * result.
 */
async function complete(job: Job, begun: AuthorizationRow, answer: Answer): Promise<Response> {
  const { authorizations, clock } = job
  const { platform } = begun
  for (let waited = 0; !(await authorizations.claim(begun, clock.now())); waited += lookEveryMs) {
    const present = await authorizations.find(answer.state, platform, clock.now())
    if (present?.usedAt) {
      // A caller that repeats the code, from the same browser or program, gets the same result.
      return present.browserHash !== null
        ? connectedBefore(job, platform, present)
        : nothingConnected(400, 'This link was used before. Start the connection again.')
    }
    if (!present || waited >= exchangeMs) return nothingConnected(503, 'It takes longer than it should. Wait a little, then load this page again.')
    await sleep(lookEveryMs)
  }
  return exchange(job, begun, answer)
}

async function exchange(job: Job, begun: AuthorizationRow, { state, parameters, viewer, wasConfirmed }: Answer): Promise<Response> {
  const { authorizations, connections, clock, log, publicUrl } = job
  const { brandId, userId, platform } = begun
  const { title } = everyNetwork[platform]
  const redirectUri = callbackUrl(publicUrl, platform)
  let network: Network | null = null
  try {
    const set = await requireApplication(job, begun)
    network = set.network
    const readiness = readinessWith(set.application)
    const organizationId = await requireStillManages(job, begun, viewer)
    const grant = await network.exchange({ parameters, redirectUri, state, verifier: authorizations.verifierOf(begun) })
    const account = await network.account(grant.accessToken, await organizationOf(job, brandId, platform))
    const { share, ...follows } = healthFollows(job, brandId)
    let brandName = 'the brand'
    await write(job, {
      ...follows,
      async run({ now, transaction }) {
        const brand = await share(transaction)
        // The brand moved while the network was called, and the person's rights in its new organization were not checked.
        if (brand?.organizationId !== organizationId) throw new DomainError('NOT_FOUND', 'The brand does not exist any more.', { id: brandId })
        requireInUse(brand)
        brandName = brand.name
        const authorized = await connections.authorize({ brandId, platform, userId, account, grant, readiness, now }, transaction)
        await authorizations.use(begun, authorized.after.id, now, transaction)
        return authorized
      },
      audit: ({ after: { id } }) => ({ tenantId: brandId, actor: `user:${userId}`, action: 'connection.authorized', subjectId: id, details: { platform } }),
    })
    return connectedPage(platform, account.name, brandName)
  } catch (error) {
    log.warn({ err: error, platform }, 'authorization could not be completed')
    if (network && wasConfirmed && error instanceof GrantFailure && error.permanent) {
      const { url, verifier } = await network.authorize({ redirectUri, state })
      await authorizations.release(begun, verifier)
      return onceMorePage(platform, url)
    }
    if (error instanceof DomainError || (error instanceof GrantFailure && error.permanent)) {
      await authorizations.use(begun, null, clock.now())
      const why = error instanceof DomainError ? error.message : `${title} did not complete the connection. Start it again.`
      return nothingConnected(error instanceof DomainError ? statusOf[error.code] : 400, why)
    }
    await authorizations.release(begun)
    const [status, who] = error instanceof GrantFailure ? [502, title] : [503, 'The platform']
    return nothingConnected(
      status as number,
      `${who} did not complete the connection. Wait a little, then load this page again, or start the connection again.`,
    )
  }
}

/**
 * Returns the application for the connection, which may have been removed since the flow began.
 * @throws DomainError when there is none any more; any other error when that is unknown now, and then nothing is decided
 */
async function requireApplication({ applications, brands, environment }: Job, { brandId, platform }: AuthorizationRow): Promise<SetUp> {
  const brand = await brands.byId.load(brandId)
  if (!brand) throw new DomainError('NOT_FOUND', 'The brand does not exist any more.', { id: brandId })
  const found = await applications.find(platform, brand.organizationId)
  if (!found.application && !found.isKnown) throw new Error('whether an application is set up is not known at this moment')
  return connectable(found, platform, { environment })
}

/**
 * Asks identity whether the person who began the flow may still connect accounts for the brand: a membership can end in
 * the minutes between, and a flow that began with a token has no session.
 * @returns the organization of the brand
 * @throws DomainError FORBIDDEN without the right; any other error when identity cannot be reached, and then nothing is
 * decided
 */
async function requireStillManages({ ask, brands }: Job, { brandId, userId }: AuthorizationRow, viewer: Viewer): Promise<string> {
  const brand = await brands.byId.load(brandId)
  if (!brand) throw new DomainError('NOT_FOUND', 'The brand does not exist any more.', { id: brandId })
  const { organizationId } = brand
  const { memberRights } = await ask(RightsOfWhoConnectsDocument, { userId, organizationId }, { appId: registration.appId, viewer })
  requireManages(memberRights?.scopes ?? [])
  return organizationId
}
