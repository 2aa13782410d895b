import { spoilt } from '../faults.ts'
import type { Vendor } from '../network.ts'
import { json, textOf } from '../network.ts'

/** A webhook as it was received. */
interface Hook {
  /** Time of receipt, ISO 8601, UTC, milliseconds. */
  readonly receivedAt: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Body as text. */
  readonly body: string
}

/** Stand-in for a receiver of webhooks: `POST /hooks/<name>` is answered with 204 unless a fault is armed. */
export const hooks: Vendor = {
  title: 'webhooks',
  play(name, { state, faults, clock }) {
    const kept = state.collection<Hook>(name, 500)
    const counter = state.collection<number>(`${name}.meta`, 1)
    return {
      name,
      takes: { mostBytes: 256 * 1024 },
      received: () => [...kept.values()],
      answer(call) {
        if (call.method !== 'POST' || call.path === '/') return json(404, { error: 'Webhooks are taken by POST to /hooks/<name>.' }, 'refused')
        return spoilt(faults, name, {
          refuse: ({ status }) => json(status, { error: 'The sandbox was told to refuse this.' }, 'refused'),
          take() {
            const number = (counter.get('number') ?? 0) + 1
            counter.set('number', number)
            const headers = Object.fromEntries(Object.entries(call.headers).map(([header, value]) => [header, String(value)]))
            kept.set(String(number), { receivedAt: clock.now().toISOString(), path: `/${name}${call.path}`, headers, body: textOf(call) })
            return { status: 204, headers: {}, body: '', outcome: 'accepted' }
          },
        })
      },
    }
  },
}
