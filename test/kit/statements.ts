import pg from 'pg'
import { sessionMark } from '../../db/connection/session.ts'
import { Batch } from '../../platform/sql/batch.ts'

type Listener = (text: string) => void
const listeners = new Set<Listener>()
let tapped = false

/**
 * Runs the work and tells which SQL statements this process sent meanwhile, in order, transaction control included.
 * Sequelize, pools and every other library of ours end in the one method that is tapped, so each statement counts once.
 * The connections must be warm: a new one sends statements of its own (`createTestDatabase` warms the first).
 * @param ignore statements that do not count, e.g. `/^(START TRANSACTION|COMMIT)/` or what a job runner sends by itself
 */
export async function countStatements<Result>(
  work: () => Promise<Result>,
  { ignore }: { ignore?: RegExp } = {},
): Promise<{ result: Result; statements: string[] }> {
  tap()
  const statements: string[] = []
  const listener: Listener = text => {
    if (!ignore?.test(text)) statements.push(text)
  }
  listeners.add(listener)
  try {
    return { result: await work(), statements }
  } finally {
    listeners.delete(listener)
  }
}

function tap(): void {
  if (tapped) return
  tapped = true
  const original: (...parameters: never[]) => unknown = pg.Client.prototype.query
  function query(this: pg.Client, ...parameters: never[]): unknown {
    for (const text of textsOf(parameters[0])) if (!text.startsWith(sessionMark)) for (const listener of listeners) listener(text)
    return Reflect.apply(original, this, parameters)
  }
  Reflect.set(pg.Client.prototype, 'query', query)
}

/** pg takes a string, `{ text }`, or an object that submits itself and carries its text; of ours some go together. */
function textsOf(asked: unknown): readonly string[] {
  if (typeof asked === 'string') return [asked]
  if (asked instanceof Batch) return asked.statements.map(({ text }) => text)
  const text = (asked as { text?: unknown } | null)?.text
  return [typeof text === 'string' ? text : String(asked)]
}
