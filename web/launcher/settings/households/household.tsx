import { Check, Ellipsis, House, LogOut, Pencil, Trash2, UserPlus, UserRound } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../../design/parts/button.tsx'
import { Icon } from '../../../design/parts/icon.tsx'
import { Action, Menu } from '../../../design/parts/menu.tsx'
import { Select } from '../../../design/parts/select.tsx'
import { Status } from '../../../design/parts/status.tsx'
import { toast } from '../../../design/parts/toast.tsx'
import { useRights } from '../../../shell/frame/rights.ts'
import { Confirm } from '../../../shell/parts/ask.tsx'
import { Failure, Region } from '../../../shell/region.tsx'
import { moment } from '../../../shell/time.ts'
import { say } from '../../../shell/words.ts'
import {
  ChangeHouseholdRoleDocument,
  DeleteHouseholdDocument,
  type HouseholdCardFragment,
  type HouseholdRole,
  RemoveHouseholdMemberDocument,
  SelectHouseholdDocument,
} from './households.generated.ts'
import { InviteDialog, OpenInvitation } from './invitations.tsx'
import { NameDialog } from './name.tsx'
import { refusalOf } from './refusals.ts'

type MemberOf = HouseholdCardFragment['members'][number]

const roles: readonly HouseholdRole[] = ['OWNER', 'ADULT', 'CHILD']

/** How many people, and how many open invitations, a household takes. */
const most = { members: 10, invitations: 10 } as const

interface HouseholdProps {
  readonly household: HouseholdCardFragment
  /** Whether the person's pages show it. */
  readonly isSelected: boolean
  reload(): void
}

/** A household: who belongs to it, who is invited, and what the person may do there. */
export function HouseholdRegion({ household, isSelected, reload }: HouseholdProps) {
  const { id: selfId } = useRights()
  const [isInviting, setInviting] = useState(false)
  const { id, name, members } = household
  const invitations = household.invitations ?? []
  const own = members.find(({ user }) => user?.id === selfId)
  const isOwner = own?.role === 'OWNER'
  const isLastOwner = isOwner && members.filter(({ role }) => role === 'OWNER').length === 1
  const mayInvite = own !== undefined && own.role !== 'CHILD'
  const hasRoom = members.length < most.members && invitations.length < most.invitations
  return (
    <Region
      isFlush
      state="ready"
      data-household={id}
      aria-label={name}
      title={
        <>
          <h2 className="clip">{name}</h2>
          {isSelected && (
            <Status meaning="positive" icon={Check}>
              {say('households.selected')}
            </Status>
          )}
        </>
      }
      tools={
        <>
          {mayInvite && hasRoom && (
            <Button icon={UserPlus} onPress={() => setInviting(true)} aria-label={say('households.invite-to', { name })}>
              {say('households.invite')}
            </Button>
          )}
          <Verbs household={household} isSelected={isSelected} isOwner={isOwner} mayLeave={!isLastOwner} reload={reload} />
        </>
      }
    >
      <ul className="list">
        {members.map(each => (
          <Member
            key={each.user?.id ?? each.joinedAt}
            household={household}
            member={each}
            isSelf={each === own}
            mayChange={isOwner && !(each === own && isLastOwner)}
            reload={reload}
          />
        ))}
        {invitations.map(each => (
          <OpenInvitation key={each.id} invitation={each} mayWithdraw={isOwner || (mayInvite && each.role !== 'OWNER')} reload={reload} />
        ))}
      </ul>
      <div className="pager">
        <span>
          {isLastOwner ? say('households.last-owner') : say(`household.${own?.role ?? 'CHILD'}-means`)}
          {mayInvite && !hasRoom && ` ${say(members.length < most.members ? 'households.invite-limit' : 'households.members-limit')}`}
        </span>
      </div>
      {isInviting && <InviteDialog household={household} roles={isOwner ? roles : roles.slice(1)} onClose={() => setInviting(false)} onDone={reload} />}
    </Region>
  )
}

/** What may be done with a household as a whole; what takes something away is asked first. */
function Verbs({
  household,
  isSelected,
  isOwner,
  mayLeave,
  reload,
}: HouseholdProps & {
  readonly isOwner: boolean
  /** Whether somebody else stays its owner. */
  readonly mayLeave: boolean
}) {
  const { id, name, version, members } = household
  const { id: selfId } = useRights()
  const [open, setOpen] = useState<'rename' | 'leave' | 'delete' | null>(null)
  const [selected, select] = useMutation(SelectHouseholdDocument)
  const [left, leave] = useMutation(RemoveHouseholdMemberDocument)
  const [deleted, remove] = useMutation(DeleteHouseholdDocument)
  const refused = refusalOf(selected.error)
  const close = () => setOpen(null)
  const done = (answer: { readonly error?: unknown }, sentence: string) => {
    reload()
    if (answer.error) return
    toast({ sentence })
    close()
  }
  return (
    <>
      <Menu
        name={say('action.of', { action: say('frame.more'), name })}
        button={<Button kind="quiet" icon={Ellipsis} name={say('action.of', { action: say('frame.more'), name })} />}
      >
        <Action
          name={say(isSelected ? 'households.deselect' : 'households.select')}
          onAction={() =>
            void select({ input: { id: isSelected ? null : id } }).then(each =>
              done(each, say(isSelected ? 'households.deselected' : 'households.now-selected', { name })),
            )
          }
        >
          <Icon of={House} />
          {say(isSelected ? 'households.deselect' : 'households.select')}
        </Action>
        {isOwner && (
          <Action name={say('households.rename')} onAction={() => setOpen('rename')}>
            <Icon of={Pencil} />
            {say('households.rename')}
          </Action>
        )}
        {mayLeave && (
          <Action name={say('households.leave')} onAction={() => setOpen('leave')}>
            <Icon of={LogOut} />
            {say('households.leave')}
          </Action>
        )}
        {isOwner && (
          <Action name={say('households.delete')} onAction={() => setOpen('delete')}>
            <Icon of={Trash2} />
            {say('households.delete')}
          </Action>
        )}
      </Menu>
      {refused && <Failure sentence={refused.sentence} requestId={refused.requestId} />}
      {open === 'rename' && <NameDialog household={household} onClose={close} onDone={reload} />}
      {open === 'leave' && (
        <Confirm
          title={say('households.leave')}
          sentence={say('households.leave-sure', { name })}
          verb={say('households.leave')}
          isBusy={left.fetching}
          problem={refusalOf(left.error)}
          onClose={close}
          onConfirm={() => void leave({ input: { householdId: id, userId: selfId! } }).then(each => done(each, say('households.left', { name })))}
        />
      )}
      {open === 'delete' && (
        <Confirm
          title={say('households.delete')}
          sentence={say('households.delete-sure', { name, count: members.length })}
          verb={say('households.delete')}
          isBusy={deleted.fetching}
          problem={refusalOf(deleted.error)}
          onClose={close}
          onConfirm={() => void remove({ input: { id, expectedVersion: version } }).then(each => done(each, say('households.deleted', { name })))}
        />
      )}
    </>
  )
}

function Member({
  household,
  member: { name, role, joinedAt, user },
  isSelf,
  mayChange,
  reload,
}: {
  readonly household: HouseholdCardFragment
  readonly member: MemberOf
  readonly isSelf: boolean
  readonly mayChange: boolean
  reload(): void
}) {
  const [changed, change] = useMutation(ChangeHouseholdRoleDocument)
  const [removed, remove] = useMutation(RemoveHouseholdMemberDocument)
  const [asks, setAsks] = useState(false)
  const problem = refusalOf(changed.error)
  const which = { householdId: household.id, userId: user?.id ?? '' }
  return (
    <li data-member={user?.id}>
      <Icon of={UserRound} large />
      <div className="grow">
        <p className="clip">{isSelf ? say('households.self', { name }) : name}</p>
        <p className="quiet small">{say('households.since', { when: moment(joinedAt) })}</p>
        {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      </div>
      {mayChange ? (
        <Select
          label={say('members.role-of', { name })}
          isLabelHidden
          choices={roles.map(id => ({ id, name: say(`household.${id}`) }))}
          value={role}
          onChange={id => {
            const next = roles.find(each => each === id)
            if (!next || next === role) return
            void change({ input: { ...which, role: next } }).then(({ error }) => error === undefined && toast({ sentence: say('members.changed', { name }) }))
          }}
        />
      ) : (
        <span className="quiet">{say(`household.${role}`)}</span>
      )}
      {mayChange && !isSelf && <Button kind="quiet" icon={Trash2} name={say('members.remove-named', { name })} onPress={() => setAsks(true)} />}
      {asks && (
        <Confirm
          title={say('households.remove')}
          sentence={say('households.remove-sure', { name, household: household.name })}
          verb={say('households.remove')}
          isBusy={removed.fetching}
          problem={refusalOf(removed.error)}
          onClose={() => setAsks(false)}
          onConfirm={() =>
            void remove({ input: which }).then(({ error }) => {
              reload()
              if (error) return
              setAsks(false)
              toast({ sentence: say('members.removed', { name }) })
            })
          }
        />
      )}
    </li>
  )
}
