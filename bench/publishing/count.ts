/** Preloaded (`node --import`): counts the SQL statements of a program, and reports them to its parent on request. */
import pg from 'pg'
import { Batch } from '../../platform/sql/batch.ts'

let counted = new Map<string, number>()
const { query } = pg.Client.prototype

Reflect.set(pg.Client.prototype, 'query', function (this: unknown, ...parameters: unknown[]): unknown {
  const [first] = parameters as [string | Batch | { text?: string }]
  const texts = first instanceof Batch ? first.statements.map(({ text }) => text) : [typeof first === 'string' ? first : (first.text ?? '')]
  for (const text of texts) {
    counted.set(text, (counted.get(text) ?? 0) + 1)
  }
  return Reflect.apply(query, this, parameters)
})

process.on('message', asked => {
  if (asked !== 'statements') return
  process.send!({ statements: [...counted].map(([text, times]) => [text.replace(/\s+/g, ' ').trim().slice(0, 90), times]) })
  counted = new Map()
})
