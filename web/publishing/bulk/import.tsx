import { FileUp } from 'lucide-react'
import { useRef, useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Dialog } from '../../design/parts/dialog.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { Failure } from '../../shell/region.tsx'
import { say } from '../../shell/words.ts'
import type { Brand } from '../brand/brand.ts'
import { ImportPostsDocument, type ImportPostsMutation } from './bulk.generated.ts'

type Import = NonNullable<ImportPostsMutation['importPosts']>

/** Takes posts from a file: looked at first, written only when the person has seen what becomes of each row. */
export function ImportButton({ brand, onDone }: { readonly brand: Brand; onDone(): void }) {
  const input = useRef<HTMLInputElement>(null)
  const [csv, setCsv] = useState<string | null>(null)
  return (
    <>
      <input
        ref={input}
        type="file"
        hidden
        accept=".csv,text/csv"
        aria-label={say('bulk.import')}
        onChange={event => {
          const [file] = event.target.files ?? []
          event.target.value = ''
          void file?.text().then(setCsv)
        }}
      />
      <Button kind="quiet" icon={FileUp} onPress={() => input.current?.click()}>
        {say('bulk.import')}
      </Button>
      {csv !== null && <ImportDialog brand={brand} csv={csv} onClose={() => setCsv(null)} onDone={onDone} />}
    </>
  )
}

function ImportDialog({ brand, csv, onClose, onDone }: { readonly brand: Brand; readonly csv: string; onClose(): void; onDone(): void }) {
  const [, run] = useMutation(ImportPostsDocument)
  const [looked, setLooked] = useState<Import | null>(null)
  const [problem, setProblem] = useState<ReturnType<typeof problemOf>>(null)
  const [isBusy, setBusy] = useState(false)
  const [idempotencyKey] = useState(() => crypto.randomUUID())
  const isBegun = useRef(false)
  async function send(dryRun: boolean) {
    setBusy(true)
    const { data, error } = await run({ input: { brandId: brand.id, csv, dryRun, ...(!dryRun && { idempotencyKey }) } })
    setBusy(false)
    setProblem(problemOf(error))
    if (data?.importPosts) setLooked(data.importPosts)
    return data?.importPosts ?? null
  }
  if (!isBegun.current) {
    isBegun.current = true
    void send(true)
  }
  async function write() {
    const made = await send(false)
    if (!made) return
    toast({ sentence: say('bulk.imported', { count: made.created }) })
    onDone()
    if (made.invalid === 0) onClose()
  }
  const valid = looked?.rows.filter(({ status }) => status === 'VALID').length ?? 0
  return (
    <Dialog title={say('bulk.import')} isWide onClose={onClose}>
      {!looked && !problem && <p role="status">{say('bulk.looking')}</p>}
      {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      {looked && (
        <>
          <p role="status">{say(looked.dryRun ? 'bulk.looked' : 'bulk.written', { valid: looked.dryRun ? valid : looked.created, invalid: looked.invalid })}</p>
          <p className="quiet small">{say('posts.zone', { zone: brand.timeZone })}</p>
          <ul className="list results">
            {looked.rows
              .filter(({ problems, status }) => status === 'INVALID' || problems.length > 0)
              .map(({ row, problems }) => (
                <li key={row}>
                  <span className="figures">{say('bulk.row', { row })}</span>
                  <div className="grow">
                    {problems.map(({ code, field, message, severity }) => (
                      <p key={`${code} ${field}`} className={severity === 'ERROR' ? 'small wrong' : 'small quiet'}>
                        {message}
                      </p>
                    ))}
                  </div>
                </li>
              ))}
          </ul>
        </>
      )}
      <div className="actions">
        <Button onPress={onClose}>{say(looked?.dryRun === false ? 'action.close' : 'action.cancel')}</Button>
        {looked?.dryRun && (
          <Button kind="primary" isDisabled={isBusy || valid === 0} onPress={() => void write()}>
            {say('bulk.import-count', { count: valid })}
          </Button>
        )}
      </div>
    </Dialog>
  )
}
