import { createHash } from 'node:crypto'
import type { Dial } from '../../../../platform/smtp/line.ts'
import { createLines, type Lines } from '../../../../platform/smtp/lines.ts'
import type { CredentialInUse } from '../../engines/third-party/credentials.ts'
import { times } from './rules.ts'

/** Connections to all mail servers. */
export interface Servers {
  /** Returns the connections to a credential's server, signed in with one of its secrets. */
  of(credential: Pick<CredentialInUse, 'id' | 'plain'>, secret: string): Lines
  close(): void
}

/** Maximum number of servers with kept connections; beyond it the least recently used are closed after their mails. */
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
