import { Image } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../design/parts/button.tsx'
import { Dialog } from '../../design/parts/dialog.tsx'
import { Field } from '../../design/parts/field.tsx'
import { useRead } from '../../shell/read.ts'
import { Region } from '../../shell/region.tsx'
import { say } from '../../shell/words.ts'
import { type MediaCardFragment, MediaLibraryDocument } from './media.generated.ts'
import { Preview } from './preview.tsx'
import { Transfers, UploadButton } from './transfers.tsx'

const pageSize = 24

/** Chooses assets of a brand's library, or sends new ones there. @param chosen ids of those that are chosen already */
export function MediaPicker({
  brandId,
  chosen,
  onChoose,
  onClose,
}: {
  readonly brandId: string
  readonly chosen: readonly string[]
  onChoose(assets: readonly MediaCardFragment[]): void
  onClose(): void
}) {
  const [search, setSearch] = useState('')
  const [picked, setPicked] = useState<ReadonlyMap<string, MediaCardFragment>>(new Map())
  const variables = { brandId, first: pageSize, ...(search.trim() && { search: search.trim() }) }
  const { data, state, problem, retry } = useRead(MediaLibraryDocument, variables, { isEmpty: ({ mediaAssets }) => mediaAssets?.totalCount === 0 })
  const assets = (data?.mediaAssets?.nodes ?? []).flatMap(each => (each && !chosen.includes(each.id) ? [each] : []))
  const toggle = (asset: MediaCardFragment) =>
    setPicked(before => (before.has(asset.id) ? new Map([...before].filter(([id]) => id !== asset.id)) : new Map([...before, [asset.id, asset]])))
  return (
    <Dialog title={say('media.choose')} isWide onClose={onClose}>
      <div className="filters">
        <Field label={say('media.search')} type="search" value={search} onChange={setSearch} />
        <UploadButton destination={{ brandId, folderId: null }} onSent={() => retry()} />
      </div>
      <Transfers />
      <Region state={state} problem={problem} retry={retry} lines={4} empty={{ icon: Image, sentence: say(search ? 'media.empty-search' : 'media.empty') }}>
        <ul className="assets small-ones">
          {assets.map(asset => (
            <li key={asset.id}>
              <button type="button" className="asset" aria-pressed={picked.has(asset.id)} data-asset={asset.id} onClick={() => toggle(asset)}>
                <Preview url={asset.previewBroken ? null : asset.previewUrl} alt={asset.altText ?? ''} kind={asset.kind} />
                <span className="clip">{asset.title || asset.filename}</span>
              </button>
            </li>
          ))}
        </ul>
      </Region>
      <div className="actions">
        <Button onPress={onClose}>{say('action.cancel')}</Button>
        <Button
          kind="primary"
          isDisabled={picked.size === 0}
          onPress={() => {
            onChoose([...picked.values()])
            onClose()
          }}
        >
          {say('media.take', { count: picked.size })}
        </Button>
      </div>
    </Dialog>
  )
}
