import { Bot, Mail, RotateCw, Trash2, UserPlus, UserRound } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Dialog } from '../../design/parts/dialog.tsx'
import { Field } from '../../design/parts/field.tsx'
import { Icon } from '../../design/parts/icon.tsx'
import { Select } from '../../design/parts/select.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { usePath, useSearch } from '../../shell/address.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { useRights } from '../../shell/frame/rights.ts'
import { Confirm } from '../../shell/parts/ask.tsx'
import { afterOf, Pager } from '../../shell/parts/listing.tsx'
import { useRead } from '../../shell/read.ts'
import { Failure, Region } from '../../shell/region.tsx'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import {
  ChangeRolesDocument,
  type InvitationLineFragment,
  InviteDocument,
  type MemberLineFragment,
  MembersDocument,
  RemoveMemberDocument,
  ResendInviteDocument,
  RevokeInviteDocument,
  type Role,
} from './members.generated.ts'
import { SettingsPage } from './tabs.tsx'

/** Roles that a person may be given here. */
const roles: readonly Role[] = ['OWNER', 'ADMIN', 'MEMBER', 'VIEWER']

/** People and service accounts of the organization, and invitations that nobody has taken yet. */
export default function Members() {
  const [path, search] = [usePath(), useSearch()]
  const { data, state, problem, retry } = useRead(MembersDocument, afterOf(search))
  const self = useRights()
  const isManager = self.roles.some(role => role === 'OWNER' || role === 'ADMIN')
  const [isInviting, setInviting] = useState(false)
  const invitations = (data?.invitations?.nodes ?? []).flatMap(each => each ?? [])
  return (
    <SettingsPage>
      <Region
        isFlush
        title={say('settings.members')}
        tools={
          isManager && (
            <Button kind="primary" icon={UserPlus} onPress={() => setInviting(true)}>
              {say('members.invite')}
            </Button>
          )
        }
        state={data?.organizationMembers ? 'ready' : state}
        problem={problem}
        retry={retry}
      >
        <ul className="list">
          {(data?.organizationMembers?.nodes ?? []).map(
            each => each && <Member key={each.id} member={each} mayChange={isManager && each.user?.id !== self.id} reload={retry} />,
          )}
        </ul>
        <Pager path={path} page={data?.organizationMembers?.pageInfo} count={say('list.count', { count: data?.organizationMembers?.totalCount ?? 0 })} />
      </Region>
      {invitations.length > 0 && (
        <Region isFlush title={say('members.invitations')} state="ready">
          <ul className="list">
            {invitations.map(each => (
              <Invitation key={each.id} invitation={each} mayChange={isManager} reload={retry} />
            ))}
          </ul>
        </Region>
      )}
      {isInviting && <InviteDialog onClose={() => setInviting(false)} onDone={retry} />}
    </SettingsPage>
  )
}

const namesOf = (given: readonly Role[]): string => given.map(role => say(`role.${role}`)).join(', ')

function Member({ member, mayChange, reload }: { readonly member: MemberLineFragment; readonly mayChange: boolean; reload(): void }) {
  const [changed, change] = useMutation(ChangeRolesDocument)
  const [removed, remove] = useMutation(RemoveMemberDocument)
  const [asks, setAsks] = useState(false)
  const problem = problemOf(changed.error ?? removed.error)
  const name = member.user?.name ?? ''
  const role = roles.find(each => member.roles.includes(each)) ?? 'MEMBER'
  return (
    <li data-member={member.id}>
      <Icon of={member.user?.kind === 'SERVICE_ACCOUNT' ? Bot : UserRound} large />
      <div className="grow">
        <p className="clip">{name}</p>
        <p className="quiet small clip">{member.user?.kind === 'SERVICE_ACCOUNT' ? say('members.service') : member.user?.email}</p>
        {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      </div>
      {mayChange ? (
        <>
          <Select
            label={say('members.role-of', { name })}
            isLabelHidden
            choices={roles.map(id => ({ id, name: say(`role.${id}`) }))}
            value={role}
            onChange={id => {
              const next = roles.find(each => each === id)
              if (next && next !== role)
                void change({ input: { id: member.id, roles: [next], expectedVersion: member.version } }).then(
                  answer => answer.data?.changeMemberRoles && toast({ sentence: say('members.changed', { name }) }),
                )
            }}
          />
          <Button kind="quiet" icon={Trash2} name={say('members.remove-named', { name })} onPress={() => setAsks(true)} />
        </>
      ) : (
        <span className="quiet">{namesOf(member.roles)}</span>
      )}
      {asks && (
        <Confirm
          title={say('members.remove')}
          sentence={say('members.remove-sure', { name })}
          verb={say('members.remove')}
          isBusy={removed.fetching}
          onClose={() => setAsks(false)}
          onConfirm={() =>
            void remove({ input: { id: member.id } }).then(answer => {
              setAsks(false)
              if (!answer.data?.removeMember) return
              toast({ sentence: say('members.removed', { name }) })
              reload()
            })
          }
        />
      )}
    </li>
  )
}

function Invitation({ invitation, mayChange, reload }: { readonly invitation: InvitationLineFragment; readonly mayChange: boolean; reload(): void }) {
  const [resent, resend] = useMutation(ResendInviteDocument)
  const [revoked, revoke] = useMutation(RevokeInviteDocument)
  const problem = problemOf(resent.error ?? revoked.error)
  const email = String(invitation.email)
  const done = (answer: { readonly error?: unknown }, sentence: string) => {
    if (answer.error) return
    toast({ sentence })
    reload()
  }
  return (
    <li>
      <Icon of={Mail} large />
      <div className="grow">
        <p className="clip">{email}</p>
        <p className="quiet small">
          {namesOf(invitation.roles)} · {say('members.expires', { when: moment(invitation.expiresAt) })}
        </p>
        {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      </div>
      {mayChange && (
        <>
          <Button
            kind="quiet"
            icon={RotateCw}
            isDisabled={resent.fetching}
            name={say('members.resend', { email })}
            onPress={() => void resend({ input: { id: invitation.id } }).then(each => done(each, say('members.resent')))}
          />
          <Button
            kind="quiet"
            icon={Trash2}
            isDisabled={revoked.fetching}
            name={say('members.revoke', { email })}
            onPress={() => void revoke({ input: { id: invitation.id } }).then(each => done(each, say('members.revoked')))}
          />
        </>
      )}
    </li>
  )
}

function InviteDialog({ onClose, onDone }: { onClose(): void; onDone(): void }) {
  const [{ error, fetching }, invite] = useMutation(InviteDocument)
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('MEMBER')
  const [idempotencyKey] = useState(() => crypto.randomUUID())
  const problem = problemOf(error)
  async function save(event: FormEvent) {
    event.preventDefault()
    const { data } = await invite({ input: { email: email.trim(), roles: [role], idempotencyKey } })
    if (!data?.inviteMember) return
    toast({ sentence: say('members.invited', { email: email.trim() }) })
    onDone()
    onClose()
  }
  return (
    <Dialog title={say('members.invite')} onClose={onClose}>
      <form className="form" onSubmit={event => void save(event)} noValidate>
        <Field label={say('settings.email')} type="email" value={email} onChange={setEmail} wrong={problem?.sentence} required />
        <Select
          label={say('members.role')}
          choices={roles.map(id => ({ id, name: say(`role.${id}`) }))}
          value={role}
          onChange={id => setRole(roles.find(each => each === id) ?? role)}
        />
        <p className="quiet small">{say(`role.${role}-means`)}</p>
        <div className="actions">
          <Button onPress={onClose}>{say('action.cancel')}</Button>
          <Button kind="primary" type="submit" isDisabled={fetching || !/^\S+@\S+$/.test(email.trim())}>
            {say('members.send')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
