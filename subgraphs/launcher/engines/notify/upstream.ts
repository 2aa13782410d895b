import type { Logger } from 'pino'
import { DomainError } from '../../../../platform/errors.ts'
import { OutboundFailure } from '../../../../platform/outbound/failure.ts'
import type { WayOut } from '../../../../platform/outbound/outbound.ts'
import type { LauncherSettings } from '../../registration.ts'
import { readItem, type ServiceItem } from './inbound.ts'

/** Where the notification service is, and the secrets that its messages are signed with. */
export type ServicePlace = NonNullable<LauncherSettings['reaching']['service']>

/** Items that are open at the service. */
export interface OpenItems {
  readonly items: readonly ServiceItem[]
  /** Ids of those that are open and cannot be read. */
  readonly unreadable: readonly string[]
}

/** The notification service, which has items of its own. */
export interface NotificationService {
  readonly secrets: readonly string[]
  /** Has it complete an item on behalf of a person. @throws UPSTREAM_FAILED unless it says that it has */
  complete(id: string, userId: string | null): Promise<void>
  /** Reads all items that are open there. @throws Error when they cannot be read whole */
  open(): Promise<OpenItems>
}

/** Time limit of a call in ms. */
const timeoutMs = 10_000

const refused = (why: string) =>
  new DomainError('UPSTREAM_FAILED', `The notification service has not completed this item (${why}), so it stays open: try it again.`)

/** Opens the notification service. */
export const openNotificationService = ({ url, secrets }: ServicePlace, outbound: WayOut, log: Logger): NotificationService => ({
  secrets,
  async complete(id, userId) {
    const body = JSON.stringify({ userId })
    const headers = { 'content-type': 'application/json', accept: 'application/json' }
    try {
      const { status } = await outbound(`${url}/v1/items/${encodeURIComponent(id)}/complete`, { method: 'POST', headers, body, timeoutMs })
      if (status < 200 || status > 299) throw refused(`it answered ${status}`)
    } catch (error) {
      if (!(error instanceof OutboundFailure)) throw error
      log.warn({ err: error }, 'no answer of the notification service')
      throw refused('it did not answer')
    }
  },
  async open() {
    const { status, text } = await outbound(`${url}/v1/items?open=true`, { headers: { accept: 'application/json' }, timeoutMs })
    if (status !== 200) throw new Error(`the notification service answered ${status}`)
    const { items } = Object(JSON.parse(text)) as { readonly items?: unknown }
    if (!Array.isArray(items)) throw new Error('the notification service answered no list of items')
    const unreadable: string[] = []
    const readable = items.flatMap(item => {
      const read = readItem(item)
      if (read) return [read]
      log.warn('item of the notification service left out: it is invalid')
      unreadable.push(String(Object(item).id))
      return []
    })
    return { items: readable, unreadable }
  },
})
