import { doForOrganization } from '../../../../../platform/caller/cause.ts'
import type { OutboundAnswer } from '../../../../../platform/outbound/outbound.ts'
import type { ConnectorRow } from '../../../stores/connector.ts'
import type { Connect } from '../connect.ts'
import { BadStatus } from '../outcome.ts'
import { type MobileAppEntryRow, readApp, readApps } from './read.ts'

/** The catalogue answered with something that is none. */
export class StrangeAnswer extends Error {
  constructor() {
    super('the developer platform answered with something that is no catalogue')
    this.name = 'StrangeAnswer'
  }
}

/** How the catalogue is asked. */
export interface CatalogueRequest {
  readonly url: string
  readonly connector: Pick<ConnectorRow, 'id' | 'headers' | 'organizationId'>
  readonly timeoutMs: number
}

async function get({ headersFor, outbound }: Connect, { url, connector, timeoutMs }: CatalogueRequest, path: string): Promise<OutboundAnswer> {
  const headers = await headersFor(connector)
  return doForOrganization(connector.organizationId, () =>
    outbound(`${url}/api/mobile-apps${path}`, { headers: { accept: 'application/json', ...headers }, timeoutMs }),
  )
}

function bodyOf({ status, headers, text }: OutboundAnswer): unknown {
  const seconds = Number(headers.get('retry-after'))
  if (status !== 200) throw new BadStatus(status, seconds > 0 ? seconds * 1_000 : undefined)
  try {
    return JSON.parse(text)
  } catch {
    throw new StrangeAnswer()
  }
}

/** Asks the developer platform for its apps, as it lists them. @throws BadStatus, StrangeAnswer, OutboundFailure; UPSTREAM_FAILED without the registry */
export async function askForApps(connect: Connect, request: CatalogueRequest): Promise<readonly MobileAppEntryRow[]> {
  const apps = readApps(bodyOf(await get(connect, request, '')))
  if (!apps) throw new StrangeAnswer()
  return apps
}

/** Asks for one app. @returns null when there is none @throws as `askForApps` does */
export async function askForApp(connect: Connect, request: CatalogueRequest, id: string): Promise<MobileAppEntryRow | null> {
  const answer = await get(connect, request, `/${encodeURIComponent(id)}`)
  if (answer.status === 404) return null
  const app = readApp(bodyOf(answer))
  if (!app) throw new StrangeAnswer()
  return app
}
