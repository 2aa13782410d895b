import type { Logger } from 'pino'
import type { Cipher } from '../../../platform/cipher.ts'
import type { Jobs } from '../../../platform/jobs/jobs.ts'
import type { JobQueue, Sweep } from '../../../platform/jobs/queue.ts'
import type { MailServer } from '../../../platform/smtp/address.ts'
import { createLines } from '../../../platform/smtp/lines.ts'
import type { Foundation } from '../../subgraph.ts'
import type { Sender } from './compose.ts'
import { createDeliver } from './deliver.ts'
import { measureMails } from './figures.ts'
import { sendQueue, sendSweep } from './queue.ts'
import { times } from './rules.ts'
import { createMails, type Mails } from './send.ts'
import { mailStore } from './store.ts'

/** Mail settings. */
export interface MailSettings {
  /** Mail server; null: no mail is sent. */
  readonly server: MailServer | null
  readonly from: Sender
}

/** Mail functions of one process. */
export interface OpenMails {
  readonly mails: Mails
  readonly queue: JobQueue
  readonly sweep: Sweep
  /** Closes the connections; called when no job runs any more. */
  close(): void
}

/** @param jobs the runner with the queue */
export function openMails(
  { sequelize, clock, cipher, publicUrl, metrics }: Pick<Foundation, 'sequelize' | 'clock' | 'publicUrl' | 'metrics'> & { readonly cipher: Cipher },
  { server, from }: MailSettings,
  { jobs, log }: { readonly jobs: () => Jobs; readonly log: Logger },
): OpenMails {
  const store = mailStore(sequelize)
  const lines = server && createLines(server, times)
  const figures = measureMails(metrics, store, () => clock.now().getTime())
  const deliver = createDeliver({ store, lines, sender: from, publicUrl, cipher, clock, figures, log })
  return {
    mails: createMails({ store, cipher, jobs, idHost: from.address.slice(from.address.lastIndexOf('@') + 1) }),
    queue: sendQueue(deliver),
    sweep: sendSweep(store.overdue, deliver, () => clock.now()),
    close: () => lines?.close(),
  }
}
