import { createHash } from 'node:crypto'
import type { Dial } from '../../../../platform/smtp/line.ts'
import { createLines, type Lines } from '../../../../platform/smtp/lines.ts'
import type { CredentialInUse } from '../../engines/third-party/credentials.ts'
import { times } from './rules.ts'

/** Connections to the mail servers of everybody. */
export interface Servers {
  /** Those to the server that a credential names, signed in with one of its secrets. */
  of(credential: Pick<CredentialInUse, 'id' | 'plain'>, secret: string): Lines
  close(): void
}

/** To how many servers connections are kept at once; beyond that those that were used least lately end when their mails are through. */
const most = 50

export function createServers(dial: Dial): Servers {
  const known = new Map<string, Lines>()
  return {
    of({ id, plain }, secret) {
      // A server with any changed setting counts as another server.
      const key = createHash('sha256')
        .update(JSON.stringify([id, plain, secret]))
        .digest('base64url')
      const lines = known.get(key) ?? createLines(serverOf(plain, secret), times, dial)
      known.delete(key)
      known.set(key, lines)
      for (const [oldest, unused] of known) {
        if (known.size <= most) break
        known.delete(oldest)
        unused.close()
      }
      return lines
    },
    close() {
      for (const lines of known.values()) lines.close()
      known.clear()
    },
  }
}

function serverOf(plain: CredentialInUse['plain'], pass: string) {
  const port = Number(plain.port)
  return { host: plain.host!.replace(/^\[|\]$/g, ''), port, secure: port === 465, auth: { user: plain.user!, pass } }
}
