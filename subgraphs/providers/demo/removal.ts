import type { Deletion, Run } from '../../store/removal.ts'
import { ofEmail } from './email.ts'
import { ofPlatform } from './platform.ts'
import { demoClientIds } from './service-client.ts'

/**
 * Deletions of the gateway's rows with organizations: also platform rows and service clients created by their people or
 * the demo.
 */
export async function demoDeletions(run: Run, organizations: readonly string[]): Promise<readonly Deletion[]> {
  const made = await run<{ id: string; action: string }>(
    `select subject_id as id, action from providers.audit_entries
      where action in ('credential.created', 'service_client.created', 'sender_domain.added') and tenant_id = any($1::uuid[])`,
    [organizations],
  )
  const idsOf = (wanted: string) => made.flatMap(({ id, action }) => (action === wanted ? [id] : []))
  const theDemos = `select name from providers.models where created_by = 'system:demo'`
  return [
    {
      sql: `update providers.model_preferences p set allowed_models = array(select name from unnest(allowed_models) name where name not in (${theDemos}))
            where organization_id is null and exists (${theDemos} and name = any(p.allowed_models))`,
      bind: [],
    },
    { sql: `delete from providers.models where created_by = 'system:demo'`, bind: [] },
    {
      sql: 'delete from providers.credentials where organization_id is null and id = any($1::uuid[])',
      bind: [[...ofPlatform, ...ofEmail.credentials, ...idsOf('credential.created')]],
    },
    {
      sql: 'delete from providers.service_clients where id = any($1::uuid[])',
      bind: [[...idsOf('service_client.created'), ...demoClientIds(organizations)]],
    },
    // With their identities.
    {
      sql: 'delete from providers.sender_domains where organization_id is null and id = any($1::uuid[])',
      bind: [[...ofEmail.domains, ...idsOf('sender_domain.added')]],
    },
  ]
}
