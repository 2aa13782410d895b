import { ImagePlus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../design/parts/button.tsx'
import { Field } from '../../design/parts/field.tsx'
import { say } from '../../shell/words.ts'
import type { Brand } from '../brand/brand.ts'
import { MediaPicker } from '../media/picker.tsx'
import { Preview } from '../media/preview.tsx'
import type { Draft } from './draft.ts'

/** Pictures and films of a draft, each with what it shows, for people who cannot see it. */
export function Attachments({
  brand,
  draft: { media },
  change,
  wrong,
}: {
  readonly brand: Brand
  readonly draft: Draft
  readonly wrong: string | undefined
  change(changes: Partial<Draft>): void
}) {
  const [isChoosing, setChoosing] = useState(false)
  return (
    <fieldset className="field">
      <legend>{say('compose.media')}</legend>
      {media.length > 0 && (
        <ul className="attached">
          {media.map(({ assetId, altText, name, previewUrl }, at) => (
            <li key={assetId} data-asset={assetId}>
              <Preview url={previewUrl} alt="" kind="IMAGE" />
              <Field
                label={say('compose.alt', { name })}
                value={altText}
                onChange={value => change({ media: media.with(at, { ...media[at]!, altText: value }) })}
                hint={say('compose.alt-hint')}
              />
              <Button kind="quiet" icon={Trash2} name={say('compose.media-remove', { name })} onPress={() => change({ media: media.toSpliced(at, 1) })} />
            </li>
          ))}
        </ul>
      )}
      {wrong && <p className="wrong">{wrong}</p>}
      <div className="actions">
        <Button icon={ImagePlus} onPress={() => setChoosing(true)}>
          {say('compose.media-add')}
        </Button>
      </div>
      {isChoosing && (
        <MediaPicker
          brandId={brand.id}
          chosen={media.map(({ assetId }) => assetId)}
          onClose={() => setChoosing(false)}
          onChoose={assets =>
            change({
              media: [
                ...media,
                ...assets.map(({ id, title, filename, altText, previewUrl, previewBroken }) => ({
                  assetId: id,
                  altText: altText ?? '',
                  name: title || filename,
                  previewUrl: previewBroken ? null : (previewUrl ?? null),
                })),
              ],
            })
          }
        />
      )}
    </fieldset>
  )
}
