import { type FormEvent, useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Field } from '../../design/parts/field.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { useRead } from '../../shell/read.ts'
import { Failure } from '../../shell/region.tsx'
import { say } from '../../shell/words.ts'
import { CompleteOnboardingDocument, InstallableAppsDocument } from './onboarding.generated.ts'

/** Completes the onboarding of the organization: its apps, its size and what it is for. */
export function OrganizationForm({ serviceId, name, onDone }: { readonly serviceId: string; readonly name: string; onDone(): void }) {
  const { data } = useRead(InstallableAppsDocument, {})
  const [{ error, fetching }, complete] = useMutation(CompleteOnboardingDocument)
  const [chosen, setChosen] = useState<readonly string[]>([])
  const [size, setSize] = useState('')
  const [useCase, setUseCase] = useState('')
  const problem = problemOf(error)
  const apps = (data?.catalogEntries?.nodes ?? []).filter(each => each?.launchable && each.entitled && each.app !== 'launcher')
  async function save(event: FormEvent) {
    event.preventDefault()
    const teamSize = /^\d+$/.test(size.trim()) ? Number(size) : null
    const answer = await complete({ input: { serviceId, apps: chosen, teamSize, useCase: useCase.trim() || null } })
    if (answer.data?.completeServiceOnboarding) onDone()
  }
  return (
    <form className="form" onSubmit={event => void save(event)}>
      <p>{say('onboarding.begin', { name })}</p>
      {apps.length > 0 && (
        <fieldset>
          <legend>{say('onboarding.apps')}</legend>
          {apps.map(
            each =>
              each && (
                <label key={each.app}>
                  <input
                    type="checkbox"
                    checked={chosen.includes(each.app)}
                    onChange={({ target }) => setChosen(target.checked ? [...chosen, each.app] : chosen.filter(app => app !== each.app))}
                  />{' '}
                  {each.title}
                </label>
              ),
          )}
        </fieldset>
      )}
      <Field
        label={say('onboarding.size')}
        inputMode="numeric"
        value={size}
        onChange={setSize}
        wrong={problem?.field === 'teamSize' ? problem.sentence : null}
      />
      <Field label={say('onboarding.use')} rows={3} value={useCase} onChange={setUseCase} wrong={problem?.field === 'useCase' ? problem.sentence : null} />
      {problem && !['teamSize', 'useCase'].includes(problem.field ?? '') && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      <div className="actions">
        <Button kind="primary" type="submit" isDisabled={fetching}>
          {say('onboarding.complete')}
        </Button>
      </div>
    </form>
  )
}
