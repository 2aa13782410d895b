import { codeOf, DomainError } from '../../../../platform/errors.ts'
import { isText, type Order, readPage, toConnection } from '../../../../platform/page.ts'
import { inTransaction } from '../../../store/write.ts'
import { activeOrganization } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { askForApps } from '../../engines/connect/catalogue/ask.ts'
import { type MobileAppEntryRow, ofPlatform } from '../../engines/connect/catalogue/read.ts'
import { callFailure } from '../../engines/connect/outcome.ts'
import { idOfOwn, provideConnectors } from '../../engines/connect/provide.ts'
import type { QueryMobileAppsArgs, Resolvers } from '../../resolvers.generated.ts'
import type { ConnectorRow } from '../../stores/connector.ts'

/** Time limit of the developer platform's answer, in ms. */
const timeoutMs = 5_000

/** The order is the developer platform's; an app that is gone ends a page's cursor. */
const asListed: Order<MobileAppEntryRow> = { name: 'mobileApps.listed', position: ({ id }) => [id], parts: [isText] }

const notConfigured = (why: string): DomainError => new DomainError('CONFLICT', why, { reason: 'NOT_CONFIGURED' })

/** The organization's connector of the catalogue; one older than it gets it now. */
async function catalogueOf(context: Context, organizationId: string): Promise<ConnectorRow> {
  const id = idOfOwn(organizationId, 'MOBILE_APP_CATALOGUE')
  const found = await context.connectors.find(id)
  if (found) return found
  await inTransaction(context, unit => provideConnectors(context, organizationId, unit))
  context.connectors.byId.clear(id)
  return (await context.connectors.find(id))!
}

async function appsOf(context: Context): Promise<readonly MobileAppEntryRow[]> {
  const { connect, viewer } = context
  const organizationId = activeOrganization(viewer, 'Mobile apps')
  const url = connect.developersUrl
  if (url === null) throw notConfigured('No developer platform is configured (DEVELOPERS_URL): no mobile apps are listed.')
  const connector = await catalogueOf(context, organizationId)
  if (connector.status === 'DISABLED') throw notConfigured('The connector of the mobile app catalogue is out of use: put it back into use first.')
  try {
    return await askForApps(connect, { url, connector, timeoutMs })
  } catch (error) {
    if (codeOf(error) === 'UPSTREAM_FAILED') throw error
    const { message } = callFailure(error, { isSent: true, isLate: false, seconds: timeoutMs / 1_000 })
    throw new DomainError('UPSTREAM_FAILED', `The developer platform does not list its apps: ${message}`)
  }
}

async function mobileApps(context: Context, { platform = null, ...page }: Partial<QueryMobileAppsArgs>) {
  const request = readPage(page, asListed)
  const apps = (await appsOf(context)).flatMap(app => ofPlatform(app, platform) ?? [])
  const from = request.after === null ? 0 : apps.findIndex(({ id }) => id === request.after![0]) + 1
  const isGone = request.after !== null && from === 0
  return toConnection(isGone ? [] : apps.slice(from, from + request.limit), request, asListed, async () => apps.length)
}

export const mobileAppResolvers: Resolvers = {
  Query: { mobileApps: (_, given, context) => mobileApps(context, given) },
}
