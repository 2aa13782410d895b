import { randomUUID } from 'node:crypto'
import { spoilt } from '../faults.ts'
import type { Control, Network, Reply, Vendor } from '../network.ts'
import { json, textOf } from '../network.ts'
import { sendWebhook } from './standard-webhooks.ts'

interface Item {
  readonly id: string
  readonly title: string
  readonly organizationId: string | null
  readonly userId: string | null
  readonly at: string
  readonly isOpen: boolean
}

const events = { 'item-opened': 'item.opened', 'item-closed': 'item.closed', 'notification-sent': 'notification.sent' } as const

/** Stand-in for the notification service: it stores items, informs the platform about them, and completes them. */
export const notifications: Vendor = {
  title: 'the notification service',
  play(name, { state, faults, clock, endpoints }): Network {
    const received = state.collection<object>(`${name}.received`, 1_000)
    const items = state.collection<Item>(`${name}.items`, 1_000)
    const { url, secret } = endpoints.notifications

    const emit: Control = async ({
      event,
      id = randomUUID(),
      title,
      organizationId = null,
      userId = null,
      scope,
      signature = 'good',
      ageSeconds = 0,
      ...others
    }) => {
      const [unknown] = Object.keys(others)
      if (unknown !== undefined) return `${unknown} is not known here: an event has event, id, title, organizationId, userId, scope, signature and ageSeconds.`
      if (typeof event !== 'string' || !Object.hasOwn(events, event))
        return `event is ${JSON.stringify(event)}: expected one of ${Object.keys(events).join(', ')}.`
      if (typeof id !== 'string' || typeof title !== 'string' || title === '') return 'id and title have to be texts.'
      if (signature !== 'good' && signature !== 'bad') return `signature is ${JSON.stringify(signature)}: expected "good" or "bad".`
      if (typeof ageSeconds !== 'number' || !Number.isInteger(ageSeconds)) return 'ageSeconds is no whole number.'
      if (url === null) return 'Nobody takes events: start the sandbox with the endpoint notifications.'
      const at = clock.now().toISOString()
      const owner = { organizationId: organizationId as string | null, userId: userId as string | null }
      if (event !== 'notification-sent' && signature === 'good') items.set(id, { id, title, ...owner, at, isOpen: event === 'item-opened' })
      state.commit()
      const data = { id, kind: 'TASK', title, body: null, url: null, severity: 'NORMAL', ...owner, at, dueAt: null, ...(scope !== undefined && { scope }) }
      const status = await sendWebhook({
        ...{ url, secret, now: clock.now(), signature, ageSeconds },
        body: { type: events[event as keyof typeof events], timestamp: at, data },
      })
      return { status, id }
    }

    return {
      name,
      controls: { emit },
      received: () => [...received.values()],
      answer(call) {
        if (call.method === 'GET' && call.path === '/v1/items') {
          const wanted = call.query.get('open')
          const shown = [...items.values()].filter(({ isOpen }) => wanted !== 'true' || isOpen)
          return json(200, { items: shown.map(({ isOpen, ...item }) => ({ ...item, status: isOpen ? 'open' : 'closed' })) }, 'read')
        }
        const [, id] = /^\/v1\/items\/([^/]+)\/complete$/.exec(call.path) ?? []
        if (call.method !== 'POST' || id === undefined) return refuse(404, 'Not found.')
        const item = items.get(decodeURIComponent(id))
        if (!item) return refuse(404, 'There is no such item.')
        const userId = userIn(textOf(call))
        if (userId === null) return refuse(400, 'userId is missing.')
        if (!item.isOpen) return json(200, { id: item.id, status: 'closed' }, 'read')
        return spoilt(faults, name, {
          refuse: ({ status }) => refuse(status, 'The sandbox was told to refuse this.'),
          take() {
            items.set(item.id, { ...item, isOpen: false })
            received.set(randomUUID(), { receivedAt: clock.now().toISOString(), id: item.id, userId })
            return json(200, { id: item.id, status: 'closed' }, 'accepted')
          },
        })
      },
    }
  },
}

const refuse = (status: number, error: string): Reply => ({ ...json(status, { error }, 'refused'), reason: error })

function userIn(text: string): string | null {
  try {
    const { userId } = JSON.parse(text) as { userId?: unknown }
    return typeof userId === 'string' && userId !== '' ? userId : null
  } catch {
    return null
  }
}
