import { useEffect } from 'react'
import { Page } from '../../shell/page.tsx'
import { base } from '../../shell/place.ts'
import { useRead } from '../../shell/read.ts'
import { Region } from '../../shell/region.tsx'
import { say } from '../../shell/words.ts'
import { OnboardingStateDocument } from './onboarding.generated.ts'
import { OrganizationForm } from './organization.tsx'
import { RecoveryForm } from './recovery.tsx'

/** What a person has to do before the dashboard opens: first the recovery address, then, for who manages it, the organization. */
export default function Onboarding() {
  const { data, state, problem, retry } = useRead(OnboardingStateDocument, {})
  const onboarding = data?.onboarding
  useEffect(() => {
    if (onboarding?.state === 'DONE') location.replace(`${base}/dashboard`)
  }, [onboarding?.state])
  return (
    <Page title={say('onboarding.title')}>
      <Region
        title={say(onboarding?.state === 'SERVICE' ? 'onboarding.organization' : 'onboarding.recovery')}
        state={state}
        problem={problem}
        retry={retry}
        lines={4}
      >
        {onboarding?.state === 'RECOVERY_EMAIL' && <RecoveryForm onVerified={retry} />}
        {onboarding?.state === 'SERVICE' && (
          <OrganizationForm
            serviceId={onboarding.serviceId}
            name={data?.viewer?.organization?.name ?? ''}
            onDone={() => location.replace(`${base}/dashboard`)}
          />
        )}
      </Region>
    </Page>
  )
}
