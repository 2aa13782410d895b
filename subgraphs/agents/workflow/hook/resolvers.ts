import { DomainError } from '../../../../platform/errors.ts'
import { requireId } from '../../../../platform/ids.ts'
import { notFound } from '../../../store/store.ts'
import { checkVersion, write } from '../../../store/write.ts'
import type { Context } from '../../context.ts'
import type { Resolvers, RotateWorkflowHookInput } from '../../resolvers.generated.ts'
import { freshHook, openCode } from '../../stores/hook.ts'
import { addressOfHooks } from './handler.ts'

async function rotateWorkflowHook(context: Context, { id: given, expectedVersion }: RotateWorkflowHookInput) {
  const { workflows, workflowHooks, connect } = context
  const id = requireId(given, 'id')
  const fresh = freshHook(connect.cipher, id)
  const { workflow, signed } = await write(context, {
    async run({ transaction, now }) {
      const locked = await workflows.lock(id, transaction)
      if (!locked) throw notFound('workflow', id)
      checkVersion(locked.version, expectedVersion, 'workflow')
      const hook = await workflowHooks.lock(id, transaction)
      if (!hook) throw new DomainError('CONFLICT', 'This workflow has no hook: give it the trigger WEBHOOK first.', { reason: 'NOT_CONFIGURED' })
      await workflowHooks.update(hook, { ...fresh.columns, createdAt: now, updatedAt: now, version: hook.version + 1 }, transaction)
      return { workflow: locked, signed: hook.signed }
    },
    audit: () => ({ tenantId: workflowOrganization(context), action: 'workflow_hook.rotated', subjectId: id }),
  })
  workflowHooks.byId.clear(id)
  return { workflow, secret: signed ? fresh.secret : null }
}

const workflowOrganization = ({ viewer }: Context): string => viewer.organizationId!

export const hookResolvers: Resolvers = {
  Mutation: { rotateWorkflowHook: (_, { input }, context) => rotateWorkflowHook(context, input) },
  // The only way to a hook, whose address is a credential.
  Workflow: { hook: ({ id }, _, { viewer, workflowHooks }) => (viewer.scopes.includes('agents:workflows.write') ? workflowHooks.byId.load(id) : null) },
  WorkflowHook: { url: (hook, _, { connect, publicUrl }) => new URL(`${publicUrl}${addressOfHooks}/${openCode(connect.cipher, hook)}`) },
}
