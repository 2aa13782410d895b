import { Building2, House, Plus } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../../design/parts/button.tsx'
import { useRights } from '../../../shell/frame/rights.ts'
import { useSwitch } from '../../../shell/frame/switch.ts'
import { useRead } from '../../../shell/read.ts'
import { Failure, Region } from '../../../shell/region.tsx'
import { say } from '../../../shell/words.ts'
import { SettingsPage } from '../tabs.tsx'
import { HouseholdRegion } from './household.tsx'
import { HouseholdsDocument } from './households.generated.ts'
import { InvitationsToMe } from './invitations.tsx'
import { NameDialog } from './name.tsx'

/** In how many households a person may be. */
const maxHouseholds = 5

/** The person's households: they belong to personal context, which an organization's page offers. */
export default function Households() {
  const { isKnown, isPersonal } = useRights()
  if (isKnown && isPersonal) return <OwnHouseholds />
  return <SettingsPage>{isKnown ? <Elsewhere /> : <Region state="loading" />}</SettingsPage>
}

/** Offers personal context to whoever works in an organization. */
function Elsewhere() {
  const { isBusy, problem, switchTo } = useSwitch()
  return (
    <>
      <Region
        title={say('settings.households')}
        state="empty"
        empty={{
          icon: Building2,
          sentence: say('households.elsewhere'),
          action: (
            <Button kind="primary" isDisabled={isBusy} onPress={() => void switchTo(null, '/settings/households')}>
              {say('households.switch')}
            </Button>
          ),
        }}
      />
      {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
    </>
  )
}

function OwnHouseholds() {
  const { data, state, problem, retry } = useRead(HouseholdsDocument, {})
  const [isCreating, setCreating] = useState(false)
  const invitations = data?.householdInvitations ?? []
  // One that the person has just left has no members for them, until the list is read again.
  const households = (data?.households ?? []).filter(({ members }) => members.length > 0)
  const isFull = households.length >= maxHouseholds
  const create = (kind: 'primary' | 'secondary') => (
    <Button kind={kind} icon={Plus} onPress={() => setCreating(true)}>
      {say('households.create')}
    </Button>
  )
  return (
    <SettingsPage actions={households.length > 0 && !isFull && create('secondary')}>
      {invitations.length > 0 && <InvitationsToMe invitations={invitations} reload={retry} />}
      {households.map(each => (
        <HouseholdRegion key={each.id} household={each} isSelected={each.id === data?.workspace?.selectedHouseholdId} reload={retry} />
      ))}
      {isFull && <p className="quiet small">{say('households.full', { count: maxHouseholds })}</p>}
      {(households.length === 0 || state === 'partial') && (
        <Region
          title={say('settings.households')}
          state={data?.households ? (state === 'partial' ? state : 'empty') : data ? 'error' : state}
          problem={problem}
          retry={retry}
          empty={{ icon: House, sentence: say('households.empty'), action: create('primary') }}
        />
      )}
      {isCreating && <NameDialog onClose={() => setCreating(false)} onDone={retry} />}
    </SettingsPage>
  )
}
