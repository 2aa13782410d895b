import { randomBytes } from 'node:crypto'
import type { Transaction } from 'sequelize'
import { type Cipher, hashOfSecret } from '../../../platform/cipher.ts'
import { newSecret } from '../../../platform/outbound/webhooks/secrets.ts'
import { statement } from '../../../platform/sql/statement.ts'
import { type Row, selectList, stamps, table, text, truth, uuid } from '../../../platform/sql/table.ts'
import type { SealedColumn } from '../../store/sealed.ts'
import { type Rows, store } from '../../store/store.ts'

/** An address that begins runs of a workflow; its id is the workflow's. */
export const workflowHooks = table('agents.workflow_hooks', {
  id: uuid.key,
  organizationId: uuid,
  codeHash: text,
  code: text,
  signed: truth.or(false),
  secret: text,
  ...stamps,
})

export type WorkflowHookRow = Row<typeof workflowHooks>

const placeOf = (column: 'code' | 'secret') => (id: string) => `agents.workflow_hook:${id}:${column}`

/** Codes and secrets of hooks as they are stored. */
export const sealedHooks: readonly SealedColumn[] = (['code', 'secret'] as const).map(column => ({
  ...{ table: workflowHooks.name, key: 'id', column, about: placeOf(column) },
}))

/** A code and a secret that nobody had before, as they are stored, and the secret as it is shown once. */
export interface FreshHook {
  readonly columns: Pick<WorkflowHookRow, 'code' | 'codeHash' | 'secret'>
  readonly secret: string
}

/** Makes a code and a secret for a workflow's hook. */
export function freshHook(cipher: Cipher, workflowId: string): FreshHook {
  const [code, secret] = [randomBytes(32).toString('base64url'), newSecret()]
  return {
    secret,
    columns: { codeHash: hashOfSecret(code), code: cipher.seal(code, placeOf('code')(workflowId)), secret: cipher.seal(secret, placeOf('secret')(workflowId)) },
  }
}

/** Decrypts the code of a hook. @throws when it was encrypted with an unknown key */
export const openCode = (cipher: Cipher, { id, code }: Pick<WorkflowHookRow, 'id' | 'code'>): string => cipher.open(code, placeOf('code')(id))

/** Decrypts the secret that calls of a hook are signed with. @throws when it was encrypted with an unknown key */
export const openSecret = (cipher: Cipher, { id, secret }: Pick<WorkflowHookRow, 'id' | 'secret'>): string => cipher.open(secret, placeOf('secret')(id))

const withCode = statement(`select ${selectList(workflowHooks, 't')} from agents.workflow_hooks t where t.code_hash = $1`)
const takeKey = statement(
  `insert into agents.hook_calls as c (workflow_id, key, run_id, at) values ($1, $2, $3, $4)
   on conflict (workflow_id, key) do update
     set run_id = case when c.at <= $5 then excluded.run_id else c.run_id end, at = case when c.at <= $5 then excluded.at else c.at end
   returning run_id as "runId"`,
)

const hookSql = (rows: Rows<typeof workflowHooks>) => ({
  /** The hook with a code; null where there is none. */
  async withCode(code: string): Promise<WorkflowHookRow | null> {
    const [found] = await rows.read(withCode, [hashOfSecret(code)])
    return found ?? null
  },

  /**
   * Takes the name of a call for a run. A call of the same name that is under way is waited for.
   * @param since names that were taken until then are free again
   * @returns the run that has the name: this one, or an earlier one
   */
  async takeKey(workflowId: string, key: string, runId: string, { now, since }: { readonly now: Date; readonly since: Date }, transaction: Transaction) {
    const [taken] = await rows.read<{ runId: string }>(takeKey, [workflowId, key, runId, now, since], transaction)
    return taken!.runId
  },
})

export const workflowHookStore = store(workflowHooks, { what: 'hook', tenancy: { by: 'organizationId' } }, hookSql)
