import { Building2 } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Field } from '../../design/parts/field.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { usePath, useSearch } from '../../shell/address.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { useRights } from '../../shell/frame/rights.ts'
import { afterOf, Pager } from '../../shell/parts/listing.tsx'
import { useRead } from '../../shell/read.ts'
import { Failure, Region } from '../../shell/region.tsx'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { type OrganizationFormFragment, OrganizationLogDocument, OwnOrganizationDocument, RenameOrganizationDocument } from './organization.generated.ts'
import { SettingsPage } from './tabs.tsx'

/** The active organization: its name, and for those who manage it what was done there. */
export default function Organization() {
  const { data, state, problem, retry } = useRead(OwnOrganizationDocument, {}, { isEmpty: ({ viewer }) => !viewer?.organization })
  const { roles } = useRights()
  const isManager = roles.some(role => role === 'OWNER' || role === 'ADMIN')
  const organization = data?.viewer?.organization
  return (
    <SettingsPage>
      <Region
        title={say('settings.organization')}
        state={state}
        problem={problem}
        retry={retry}
        lines={3}
        empty={{ icon: Building2, sentence: say('organization.personal') }}
      >
        {organization && <NameForm key={organization.version} organization={organization} mayWrite={isManager} />}
      </Region>
      {isManager && organization && <Log />}
    </SettingsPage>
  )
}

function NameForm({ organization, mayWrite }: { readonly organization: OrganizationFormFragment; readonly mayWrite: boolean }) {
  const [{ error, fetching }, rename] = useMutation(RenameOrganizationDocument)
  const [name, setName] = useState(organization.name)
  const problem = problemOf(error)
  async function save(event: FormEvent) {
    event.preventDefault()
    const { data } = await rename({ input: { name: name.trim(), expectedVersion: organization.version } })
    if (data?.updateOrganization) toast({ sentence: say('organization.saved') })
  }
  return (
    <form className="form" onSubmit={event => void save(event)}>
      <Field
        label={say('organization.name')}
        value={name}
        onChange={setName}
        hint={say('organization.since', { when: moment(organization.createdAt) })}
        wrong={problem?.field === 'name' ? problem.sentence : null}
        readOnly={!mayWrite}
        required
      />
      {problem && problem.field !== 'name' && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      {mayWrite && (
        <div className="actions">
          <Button kind="primary" type="submit" isDisabled={fetching || name.trim() === '' || name === organization.name}>
            {say('action.save')}
          </Button>
        </div>
      )}
    </form>
  )
}

function Log() {
  const [path, search] = [usePath(), useSearch()]
  const { data, state, problem, retry } = useRead(OrganizationLogDocument, afterOf(search), { isEmpty: ({ auditLog }) => auditLog?.nodes?.length === 0 })
  return (
    <Region
      isFlush
      title={say('organization.log')}
      state={state}
      problem={problem}
      retry={retry}
      empty={{ icon: Building2, sentence: say('organization.log-empty') }}
    >
      <ul className="list">
        {(data?.auditLog?.nodes ?? []).map(
          each =>
            each && (
              <li key={each.id}>
                <div className="grow">
                  <p>
                    <code>{each.action}</code>
                  </p>
                  <p className="quiet small">{[each.user?.name, each.ipAddress].filter(Boolean).join(' · ')}</p>
                </div>
                <time className="quiet figures" dateTime={each.at}>
                  {moment(each.at)}
                </time>
              </li>
            ),
        )}
      </ul>
      <Pager path={path} page={data?.auditLog?.pageInfo} count={say('list.count', { count: data?.auditLog?.totalCount ?? 0 })} />
    </Region>
  )
}
