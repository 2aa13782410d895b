import { z } from 'zod'
import { isVapidKey } from '../../subgraphs/launcher/engines/notify/push/key.ts'
import { address, webhookSecrets } from '../readers.ts'
import { type Start, setting } from '../setting.ts'

const subgraphs: readonly Start[] = ['all', 'subgraph']

const vapidKey = z.string().refine(isVapidKey, 'must be a private key of P-256: 32 bytes in base64url')
const subject = z
  .string()
  .refine(text => /^mailto:[^\s@]+@[^\s@]+$/.test(text) || (text.startsWith('https://') && URL.canParse(text)), 'must be mailto:… or https://…')

/** Ways by which notifications reach people. */
export const notifications = {
  serviceUrl: setting('NOTIFICATIONS_URL', address, {
    fallback: null,
    without: "the queue holds items of the platform's services alone; the sandbox's in the demo",
    by: subgraphs,
    does: 'Address of the notification service, whose items join the queue of actions and are completed there.',
  }),
  serviceSecrets: setting('NOTIFICATIONS_SECRETS', webhookSecrets, {
    fallback: null,
    without: "no messages are taken; the sandbox's in the demo",
    by: subgraphs,
    does: 'Secrets that sign messages of the notification service, comma-separated; several while one is changed: `whsec_` and at least 24 random bytes in base64.',
  }),
  vapidPrivateKey: setting('VAPID_PRIVATE_KEY', vapidKey, {
    fallback: null,
    without: 'one that the processes share in their database',
    by: subgraphs,
    does: 'Private key that signs push messages: 32 bytes in base64url. With another key, browsers have to subscribe again.',
  }),
  vapidSubject: setting('VAPID_SUBJECT', subject, {
    fallback: null,
    without: '`PUBLIC_URL` where that is https, else `mailto:webmaster@localhost`',
    by: subgraphs,
    does: 'How push services reach the operator: `mailto:ops@example.com`, or an https address.',
  }),
}
