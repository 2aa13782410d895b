import type { Sequelize } from 'sequelize'
import type { Tracing } from '../../platform/caller/trace.ts'
import { keepSpans } from './spans.ts'

/** Fields in which requests and answers carry what nobody else may read. */
const names = /^(?:password|newPassword|currentPassword|secret|client_secret|clientSecret|accessToken|access_token|refreshToken|refresh_token|id_token)$/
/** A code that works once, as all of ours are written; what an error is called is a `code` too. */
const oneTime = /^[\w-]{43}$/
const shortest = 12

/** Where what a run leaves behind is read by people and other programs: every record, fact and job, but not what credentials are kept in. */
const tablesThatTell = `
  select format('%I.%I', n.nspname, c.relname) as name
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
   where c.relkind in ('r', 'p') and not c.relispartition
     and (c.relname in ('audit_entries', 'facts', 'inbox', 'idempotency_keys') or right(n.nspname, 5) = '_jobs' and c.relname = 'job')`

/** The clear texts of passwords, tokens, keys and codes that a test has sent and was answered. */
export interface Secrets {
  /** Takes what is secret out of a body, variables or an answer. */
  note(value: unknown): void
  /** Takes what is secret out of what a third party answered, where that is JSON. */
  noteText(text: string): void
  /** Everything that was taken. */
  readonly known: ReadonlySet<string>
  /** Takes what is secret out of an address and of a form: `code` and its like. */
  noteFields(fields: URLSearchParams): void
  /** Keeps the traces of a run, to be looked through with its log. */
  readonly tracing: Tracing
  /** Takes the sessions out of `Set-Cookie` lines. */
  noteCookies(lines: unknown): void
  /** Where some of them stand that should nowhere: in lines of the log, in traces, and in what the database tells others. */
  leaks(log: readonly string[], sequelize: Pick<Sequelize, 'query'>): Promise<readonly string[]>
}

export function collectSecrets(): Secrets {
  const known = new Set<string>()
  const spans: string[] = []
  const note = (value: unknown, name = ''): void => {
    if (typeof value === 'string') {
      if ((names.test(name) && value.length >= shortest) || (/code$/i.test(name) && oneTime.test(value))) known.add(value)
    } else if (Array.isArray(value)) for (const each of value) note(each, name)
    else if (typeof value === 'object' && value !== null) for (const [key, each] of Object.entries(value)) note(each, key)
  }
  return {
    note: value => note(value),
    noteText(text) {
      if (!/token"/.test(text)) return
      try {
        note(JSON.parse(text))
      } catch {
        // A page that mentions tokens contains none.
      }
    },
    known,
    noteFields: fields => note(Object.fromEntries(fields)),
    tracing: keepSpans(spans),
    noteCookies(lines) {
      for (const line of [lines ?? []].flat()) {
        const token = /session_token=([^;]{20,})/.exec(String(line))?.[1]
        if (token) known.add(decodeURIComponent(token).split('.')[0]!)
      }
    },
    async leaks(log, sequelize) {
      if (known.size === 0) return []
      const [tables] = (await sequelize.query(tablesThatTell)) as [{ name: string }[], unknown]
      const union = tables.map(({ name }) => `select '${name}: ' || t::text as line from ${name} t`).join(' union all ')
      const [rows] = (await sequelize.query(union)) as [{ line: string }[], unknown]
      const lines = [...log, ...spans, ...rows.map(({ line }) => line)]
      return lines.filter(line => [...known].some(secret => line.includes(secret))).map(line => line.slice(0, 300))
    },
  }
}
