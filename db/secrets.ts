import { QueryTypes, type Sequelize } from 'sequelize'
import type { Cipher } from '../platform/cipher.ts'
import { sealedChatSecrets } from '../subgraphs/agents/stores/chat/rate.ts'
import { sealedConnectorHeaders } from '../subgraphs/agents/stores/connector.ts'
import { sealedHooks } from '../subgraphs/agents/stores/hook.ts'
import { sealedCodes } from '../subgraphs/identity/mail/send.ts'
import { sealedSigningKeys } from '../subgraphs/identity/stores/credentials/signing-key.ts'
import { sealedSubscriptions } from '../subgraphs/launcher/stores/inbox/push-subscription.ts'
import { sealedMails } from '../subgraphs/launcher/stores/mail.ts'
import { sealedLauncherSecrets } from '../subgraphs/launcher/stores/widget-payload.ts'
import { sealedPaymentWebhookSecrets } from '../subgraphs/payments/stores/events/webhook-endpoint.ts'
import { sealedSecrets } from '../subgraphs/providers/stores/credential/credential.ts'
import { sealedAttachments } from '../subgraphs/providers/stores/email/attachment.ts'
import { sealedDomainKeys } from '../subgraphs/providers/stores/email/domain.ts'
import { sealedContents } from '../subgraphs/providers/stores/email/message.ts'
import { sealedVerifiers } from '../subgraphs/publishing/stores/authorization.ts'
import { sealedTokens } from '../subgraphs/publishing/stores/connection.ts'
import { sealedFormerSecrets } from '../subgraphs/publishing/stores/news/former-secret.ts'
import { sealedWebhookSecrets } from '../subgraphs/publishing/stores/news/webhook.ts'
import type { SealedColumn } from '../subgraphs/store/sealed.ts'

/** All encrypted columns of the subgraphs. */
export const sealedColumns: readonly SealedColumn[] = [
  ...sealedChatSecrets,
  ...sealedConnectorHeaders,
  ...sealedHooks,
  ...sealedLauncherSecrets,
  ...sealedMails,
  ...sealedSubscriptions,
  ...sealedCodes,
  ...sealedSigningKeys,
  ...sealedSecrets,
  ...sealedDomainKeys,
  ...sealedContents,
  ...sealedAttachments,
  ...sealedTokens,
  ...sealedVerifiers,
  ...sealedWebhookSecrets,
  ...sealedFormerSecrets,
  ...sealedPaymentWebhookSecrets,
]

/** Number of values that are read at once, unless a column has large ones. */
const usualBatch = 200

/** The result for one column. */
export interface Rewritten {
  readonly column: SealedColumn
  /** Number of values that were encrypted anew. */
  readonly written: number
  /** The keys of rows whose value cannot be decrypted with any configured key; at most a hundred. */
  readonly closed: readonly string[]
}

const mostNamed = 100

interface Found {
  readonly key: string
  readonly sealed: string
}

/**
 * Encrypts with the newest key all values with an older one, in small steps, while the platform runs: a value that is
 * changed in between stays unchanged. After an interruption the next run continues.
 * @param newest name of the cipher's newest key
 * @param onProgress called after each step
 */
export async function rewriteSecrets(
  sequelize: Sequelize,
  cipher: Cipher,
  newest: string,
  onProgress: (progress: Rewritten) => void = () => {},
  columns: readonly SealedColumn[] = sealedColumns,
): Promise<readonly Rewritten[]> {
  const done: Rewritten[] = []
  for (const column of columns) done.push(await rewriteColumn(sequelize, cipher, newest, column, onProgress))
  return done
}

async function rewriteColumn(sequelize: Sequelize, cipher: Cipher, newest: string, column: SealedColumn, onProgress: (progress: Rewritten) => void) {
  const { table, key, column: name, about, batch = usualBatch } = column
  const next = `select ${key}::text as key, ${name} as sealed from ${table}
    where ${name} is not null and split_part(${name}, '.', 2) <> $1 and ${key}::text > $2 order by ${key}::text limit ${batch}`
  const write = `update ${table} set ${name} = $1 where ${key}::text = $2 and ${name} = $3 returning true as written`
  const closed: string[] = []
  let written = 0
  let after = ''
  for (;;) {
    const found = await sequelize.query<Found>(next, { type: QueryTypes.SELECT, bind: [newest, after] })
    for (const { key: of, sealed } of found) {
      const place = about(of)
      const clear = opened(cipher, sealed, place)
      if (clear === null) {
        if (closed.length < mostNamed) closed.push(of)
        continue
      }
      written += (await sequelize.query(write, { type: QueryTypes.SELECT, bind: [cipher.seal(clear, place), of, sealed] })).length
    }
    if (found.length > 0) onProgress({ column, written, closed })
    if (found.length < batch) return { column, written, closed }
    after = found.at(-1)!.key
  }
}

function opened(cipher: Cipher, sealed: string, place: string): string | null {
  try {
    return cipher.open(sealed, place)
  } catch {
    return null
  }
}
