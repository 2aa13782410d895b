import type { WriteTransaction } from '../../../store/books.ts'
import { actorOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { freshHook } from '../../stores/hook.ts'
import type { WorkflowRow } from '../../stores/workflow.ts'

/** Gives a workflow the hook that its trigger needs, and takes it away where it needs none. */
export async function keepHook(
  { workflowHooks, connect, viewer }: Pick<Context, 'workflowHooks' | 'connect' | 'viewer'>,
  { id, organizationId, trigger }: Pick<WorkflowRow, 'id' | 'organizationId' | 'trigger'>,
  { transaction, now }: WriteTransaction,
): Promise<void> {
  const known = await workflowHooks.lock(id, transaction)
  if (trigger.kind !== 'WEBHOOK') {
    if (known) await workflowHooks.remove(known, transaction)
    return
  }
  const signed = trigger.signed ?? false
  if (!known) {
    const stamps = { createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }
    await workflowHooks.insert({ id, organizationId, signed, ...freshHook(connect.cipher, id).columns, ...stamps }, transaction)
  } else if (known.signed !== signed) await workflowHooks.update(known, { signed, updatedAt: now, version: known.version + 1 }, transaction)
}
