import { createKeyCheck } from '../../store/key-check.ts'
import type { Noun } from '../../wiring/define.ts'
import { webhookResolvers } from '../admin/webhook/resolvers.ts'
import { webhookEventResolvers } from '../admin/webhook-event/resolvers.ts'
import { placeOfSecret } from '../stores/events/webhook-endpoint.ts'
import type { At } from './services.ts'

/** Whether the secrets with which webhooks are signed can be opened. */
function secretsCheck({ foundation: { cipher, sequelize }, log }: At) {
  return createKeyCheck(sequelize, {
    table: 'payments.webhook_secrets',
    columns: [{ column: 'secret', open: (id, sealed) => cipher.open(sealed, placeOfSecret(id)) }],
    consequence: 'webhooks cannot be signed, and wait: secrets were',
    log,
  })
}

/** Events of the processor that come in, and events of payments that go out. */
export const eventNouns: Readonly<Record<string, Noun<At>>> = {
  'admin/webhook-event': {
    resolvers: webhookEventResolvers,
    sweeps: ({ services: { processing } }) => [processing.sweep],
    stop: ({ services: { processing } }) => processing.ended(),
    retention: () => [{ table: 'payments.webhook_events', days: 90, old: 'o.created_at < $1', order: 'o.created_at' }],
  },
  'admin/webhook': {
    resolvers: webhookResolvers,
    sweeps: ({ services: { outgoing } }) => [outgoing.sweep],
    retention: () => [
      { table: 'payments.webhook_deliveries', days: 30, old: `o.status <> 'PENDING' and o.created_at < $1`, order: 'o.created_at' },
      { table: 'payments.webhook_secrets', days: 1, old: 'o.signs_until < $1', order: 'o.signs_until' },
    ],
    readiness: at => [secretsCheck(at)],
    stop: ({ services: { outgoing } }) => outgoing.ended(),
  },
}
