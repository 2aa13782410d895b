import { CircleAlert, CircleCheck, Upload, X } from 'lucide-react'
import { useRef, useSyncExternalStore } from 'react'
import { Button } from '../../design/parts/button.tsx'
import { Icon } from '../../design/parts/icon.tsx'
import { useSession } from '../../shell/context.ts'
import { say } from '../../shell/words.ts'
import { clearTransfers, currentTransfers, type Destination, onTransfers, sendFiles, type Transfer } from './transfer.ts'

const accepted = 'image/*,video/*'

/** Chooses files and sends them. @param onSent told of the assets that they became */
export function UploadButton({ destination, onSent }: { readonly destination: Destination; onSent(assetIds: readonly string[]): void }) {
  const session = useSession()
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={input}
        type="file"
        hidden
        multiple
        accept={accepted}
        aria-label={say('media.upload')}
        onChange={event => {
          const files = [...(event.target.files ?? [])]
          event.target.value = ''
          void sendFiles(files, destination, session).then(ids => onSent(ids.filter(id => id !== null)))
        }}
      />
      <Button kind="primary" icon={Upload} onPress={() => input.current?.click()}>
        {say('media.upload')}
      </Button>
    </>
  )
}

/** How far files on their way are, by a bar each; a reader is told at quarters. */
export function Transfers() {
  const transfers = useSyncExternalStore(onTransfers, currentTransfers)
  if (transfers.length === 0) return null
  const isOver = transfers.every(({ state }) => state === 'done' || state === 'failed')
  return (
    <section className="region flush" aria-label={say('media.uploads')}>
      <ul className="list">
        {transfers.map(transfer => (
          <TransferLine key={transfer.key} transfer={transfer} />
        ))}
      </ul>
      <p className="unseen" role="status">
        {transfers.map(({ name, sent, bytes, state }) => said(name, bytes === 0 ? 0 : sent / bytes, state)).join('. ')}
      </p>
      {isOver && (
        <div className="pager">
          <span />
          <Button kind="quiet" icon={X} onPress={clearTransfers}>
            {say('media.uploads-clear')}
          </Button>
        </div>
      )}
    </section>
  )
}

const said = (name: string, share: number, state: Transfer['state']): string =>
  say(state === 'sending' ? 'media.sent-part' : `media.sent-${state}`, { name, percent: Math.floor(share * 4) * 25 })

function TransferLine({ transfer: { name, bytes, sent, state, problem } }: { readonly transfer: Transfer }) {
  return (
    <li>
      <Icon of={state === 'failed' ? CircleAlert : state === 'done' ? CircleCheck : Upload} large />
      <div className="grow">
        <p className="clip">{name}</p>
        {state === 'sending' || state === 'waiting' ? (
          <progress max={bytes || 1} value={sent} aria-label={name} />
        ) : (
          <p className={state === 'failed' ? 'small wrong' : 'small quiet'}>{problem ?? say('media.sent')}</p>
        )}
        {state === 'failed' && <p className="small quiet">{say('media.resume')}</p>}
        {state === 'waiting' && <p className="small quiet">{say('media.waiting')}</p>}
      </div>
    </li>
  )
}
