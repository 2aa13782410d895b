import { type FormEvent, useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Dialog } from '../../design/parts/dialog.tsx'
import { Field } from '../../design/parts/field.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { Failure } from '../../shell/region.tsx'
import { say } from '../../shell/words.ts'
import { type CampaignRowFragment, CreateCampaignDocument, UpdateCampaignDocument } from './campaigns.generated.ts'

interface FormProps {
  readonly brandId: string
  /** The one that is changed; null for a new one. */
  readonly campaign: CampaignRowFragment | null
  onClose(): void
  onDone(id: string): void
}

/** Makes a campaign, or changes one. */
export function CampaignForm({ brandId, campaign, onClose, onDone }: FormProps) {
  const [created, create] = useMutation(CreateCampaignDocument)
  const [updated, update] = useMutation(UpdateCampaignDocument)
  const [name, setName] = useState(campaign?.name ?? '')
  const [description, setDescription] = useState(campaign?.description ?? '')
  const [startsOn, setStartsOn] = useState(campaign?.startsOn ?? '')
  const [endsOn, setEndsOn] = useState(campaign?.endsOn ?? '')
  const [idempotencyKey] = useState(() => crypto.randomUUID())
  const problem = problemOf(created.error ?? updated.error)
  const wrongAt = (field: string) => (problem?.field === field ? problem.sentence : null)
  async function save(event: FormEvent) {
    event.preventDefault()
    const fields = { name: name.trim(), description: description.trim() || null, startsOn: startsOn || null, endsOn: endsOn || null }
    const id = campaign
      ? (await update({ input: { id: campaign.id, ...fields, expectedVersion: campaign.version } })).data?.updateCampaign?.id
      : (await create({ input: { brandId, ...fields, idempotencyKey } })).data?.createCampaign?.id
    if (id) onDone(id)
  }
  return (
    <Dialog title={say(campaign ? 'campaigns.edit' : 'campaigns.create')} onClose={onClose}>
      <form className="form" onSubmit={event => void save(event)}>
        <Field label={say('campaigns.name')} value={name} onChange={setName} wrong={wrongAt('name')} required />
        <Field label={say('campaigns.description')} value={description} onChange={setDescription} rows={3} wrong={wrongAt('description')} />
        <Field label={say('campaigns.starts')} type="date" value={startsOn} onChange={setStartsOn} wrong={wrongAt('startsOn')} />
        <Field label={say('campaigns.ends')} type="date" value={endsOn} onChange={setEndsOn} wrong={wrongAt('endsOn')} />
        {problem && !problem.field && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
        <div className="actions">
          <Button onPress={onClose}>{say('action.cancel')}</Button>
          <Button kind="primary" type="submit" isDisabled={name.trim() === '' || created.fetching || updated.fetching}>
            {say(campaign ? 'action.save' : 'campaigns.create')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
