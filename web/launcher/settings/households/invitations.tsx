import { Check, Mail, X } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../../design/parts/button.tsx'
import { Field } from '../../../design/parts/field.tsx'
import { Icon } from '../../../design/parts/icon.tsx'
import { Select } from '../../../design/parts/select.tsx'
import { toast } from '../../../design/parts/toast.tsx'
import { useDraft, useOnce } from '../../../shell/data/draft.ts'
import { Confirm, FormDialog } from '../../../shell/parts/ask.tsx'
import { Failure, Region } from '../../../shell/region.tsx'
import { moment } from '../../../shell/time.ts'
import { say } from '../../../shell/words.ts'
import {
  AcceptHouseholdDocument,
  DeclineHouseholdDocument,
  type HouseholdCardFragment,
  type HouseholdRole,
  type HouseholdsQuery,
  InviteToHouseholdDocument,
  WithdrawHouseholdDocument,
} from './households.generated.ts'
import { refusalOf } from './refusals.ts'

type Invitation = NonNullable<HouseholdsQuery['householdInvitations']>[number]

/** Invitations to the person's address, which wait for an answer. */
export const InvitationsToMe = ({ invitations, reload }: { readonly invitations: readonly Invitation[]; reload(): void }) => (
  <Region isFlush title={say('households.invitations')} state="ready">
    <ul className="list">
      {invitations.map(each => (
        <InvitationLine key={each.id} invitation={each} reload={reload} />
      ))}
    </ul>
  </Region>
)

function InvitationLine({ invitation: { id, householdName, role, expiresAt }, reload }: { readonly invitation: Invitation; reload(): void }) {
  const [accepted, accept] = useMutation(AcceptHouseholdDocument)
  const [declined, decline] = useMutation(DeclineHouseholdDocument)
  const problem = refusalOf(accepted.error ?? declined.error, { LIMIT: 'households.accept-limit' })
  const isBusy = accepted.fetching || declined.fetching
  const name = householdName
  async function answer(isAccepted: boolean) {
    const { error } = await (isAccepted ? accept({ input: { id } }) : decline({ input: { id } }))
    if (error) return
    toast({ sentence: say(isAccepted ? 'households.accepted' : 'households.declined', { name }) })
    reload()
  }
  return (
    <li data-invitation={id}>
      <Icon of={Mail} large />
      <div className="grow">
        <p className="clip">{name}</p>
        <p className="quiet small">
          {say('households.invited-as', { role: say(`household.${role}`) })} · {say('households.expires', { when: moment(expiresAt) })}
        </p>
        {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      </div>
      <Button icon={Check} isDisabled={isBusy} onPress={() => void answer(true)} aria-label={say('action.of', { action: say('households.accept'), name })}>
        {say('households.accept')}
      </Button>
      <Button
        kind="quiet"
        icon={X}
        isDisabled={isBusy}
        onPress={() => void answer(false)}
        aria-label={say('action.of', { action: say('households.decline'), name })}
      >
        {say('households.decline')}
      </Button>
    </li>
  )
}

/** An invitation that waits for an answer, and the way to take it back. */
export function OpenInvitation({
  invitation: { id, email, role, expiresAt },
  mayWithdraw,
  reload,
}: {
  readonly invitation: NonNullable<HouseholdCardFragment['invitations']>[number]
  readonly mayWithdraw: boolean
  reload(): void
}) {
  const [isAsked, setAsked] = useState(false)
  const [{ error, fetching }, withdraw] = useMutation(WithdrawHouseholdDocument)
  async function takeBack() {
    const answer = await withdraw({ input: { id } })
    // Somebody may have answered it meanwhile.
    reload()
    if (answer.error) return
    toast({ sentence: say('households.withdrawn', { email }) })
    setAsked(false)
  }
  return (
    <li data-invitation={id}>
      <Icon of={Mail} large />
      <div className="grow">
        <p className="clip">{email}</p>
        <p className="quiet small">
          {say('households.invited-as', { role: say(`household.${role}`) })} · {say('households.expires', { when: moment(expiresAt) })}
        </p>
      </div>
      <span className="quiet">{say('households.waits')}</span>
      {mayWithdraw && (
        <Button kind="quiet" icon={X} onPress={() => setAsked(true)} aria-label={say('action.of', { action: say('households.withdraw'), name: email })}>
          {say('households.withdraw')}
        </Button>
      )}
      {isAsked && (
        <Confirm
          title={say('households.withdraw')}
          sentence={say('households.withdraw-sentence', { email })}
          verb={say('households.withdraw')}
          isBusy={fetching}
          problem={refusalOf(error)}
          onConfirm={() => void takeBack()}
          onClose={() => setAsked(false)}
        />
      )}
    </li>
  )
}

/** Invites an address to a household. @param roles that the person may give */
export function InviteDialog({
  household,
  roles,
  onClose,
  onDone,
}: {
  readonly household: HouseholdCardFragment
  readonly roles: readonly HouseholdRole[]
  onClose(): void
  onDone(): void
}) {
  const [{ error, fetching }, invite] = useMutation(InviteToHouseholdDocument)
  const [{ typed, role }, setDraft, forget] = useDraft(`invite.${household.id}`, { typed: '', role: 'ADULT' as HouseholdRole })
  const [isTried, setTried] = useState(false)
  const idempotencyKey = useOnce()
  const problem = refusalOf(error, { LIMIT: 'households.invite-limit' })
  const email = typed.trim()
  const isAddress = /^\S+@\S+$/.test(email)
  async function save() {
    setTried(true)
    if (!isAddress) return
    const { data } = await invite({ input: { householdId: household.id, email, role, idempotencyKey } })
    if (!data?.inviteToHousehold) return
    forget()
    toast({ sentence: say('households.invited', { email }) })
    onDone()
    onClose()
  }
  return (
    <FormDialog
      title={say('households.invite-to', { name: household.name })}
      verb={say('households.send')}
      isBusy={fetching}
      problem={problem}
      fields={['email']}
      onDo={() => void save()}
      onClose={onClose}
    >
      <Field
        label={say('settings.email')}
        type="email"
        value={typed}
        onChange={value => setDraft({ typed: value, role })}
        hint={say('households.email-hint')}
        wrong={isTried && !isAddress ? say('households.email-wrong') : problem?.field === 'email' ? problem.sentence : null}
        required
      />
      <Select
        label={say('households.role')}
        choices={roles.map(id => ({ id, name: say(`household.${id}`) }))}
        value={role}
        onChange={id => setDraft({ typed, role: roles.find(each => each === id) ?? role })}
      />
      <p className="quiet small">{say(`household.${role}-means`)}</p>
    </FormDialog>
  )
}
