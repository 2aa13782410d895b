import { useState } from 'react'
import { Button } from '../../../design/parts/button.tsx'
import { Dialog } from '../../../design/parts/dialog.tsx'
import { Select } from '../../../design/parts/select.tsx'
import { useRead } from '../../../shell/read.ts'
import { Region } from '../../../shell/region.tsx'
import { say } from '../../../shell/words.ts'
import { VenueForm } from '../new.tsx'
import { VenueMerchantsDocument } from './venues.generated.ts'

/** Adds a venue of one of the merchants. With one merchant there is nothing to choose. */
export function AddVenue({ reload, onClose }: { readonly reload: () => void; onClose(): void }) {
  const { data, state, problem, retry } = useRead(VenueMerchantsDocument, {})
  const [chosen, setChosen] = useState<string | null>(null)
  const [picked, setPicked] = useState<string | null>(null)
  const merchants = (data?.merchants?.nodes ?? []).filter(each => each !== null)
  const only = merchants.length === 1 ? merchants[0]!.id : null
  const merchantId = chosen ?? only
  if (merchantId) return <VenueForm merchantId={merchantId} reload={reload} onClose={onClose} />
  const value = picked ?? merchants[0]?.id ?? ''
  return (
    <Dialog title={say('venues.create')} onClose={onClose}>
      <Region state={state} problem={problem} retry={retry} lines={2}>
        {merchants.length === 0 ? (
          <p>{say('venues.no-merchant')}</p>
        ) : (
          <Select label={say('merchants.one')} choices={merchants} value={value} onChange={setPicked} />
        )}
      </Region>
      <div className="actions">
        {merchants.length > 0 && (
          <Button kind="primary" onPress={() => setChosen(value)}>
            {say('venues.go-on')}
          </Button>
        )}
        <Button onPress={onClose}>{say('action.cancel')}</Button>
      </div>
    </Dialog>
  )
}
