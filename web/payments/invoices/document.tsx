import { FileDown } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../design/parts/button.tsx'
import { useSession } from '../../shell/context.ts'
import { saveFile } from '../../shell/data/file.ts'
import { base } from '../../shell/place.ts'
import { Failure } from '../../shell/region.tsx'
import { say } from '../../shell/words.ts'

/** Saves the document of an invoice, which is made when it is asked for. @param name of the file, without its ending */
export function InvoiceDocument({ id, name }: { readonly id: string; readonly name: string }) {
  const session = useSession()
  const [isBusy, setBusy] = useState(false)
  const [isWrong, setWrong] = useState(false)
  async function save() {
    setBusy(true)
    setWrong(false)
    try {
      const token = await session.token()
      const answer = await fetch(`${base}/api/invoices/${id}/pdf`, { headers: { ...(token !== null && { authorization: `Bearer ${token}` }) } })
      if (answer.ok) saveFile(`${name}.pdf`, 'application/pdf', await answer.arrayBuffer())
      setWrong(!answer.ok)
    } catch {
      setWrong(true)
    }
    setBusy(false)
  }
  return (
    <>
      <div className="actions">
        <Button icon={FileDown} isDisabled={isBusy} onPress={() => void save()}>
          {say('invoices.pdf')}
        </Button>
      </div>
      {isWrong && <Failure sentence={say('invoices.no-pdf')} />}
    </>
  )
}
