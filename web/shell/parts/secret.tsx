import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../design/parts/button.tsx'
import { say } from '../words.ts'

/** Copies a text, and says so. Where the browser lets nobody copy, the text stands there to be selected. */
function CopyButton({ text, isQuiet = false }: { readonly text: string; readonly isQuiet?: boolean }) {
  const [isCopied, setCopied] = useState(false)
  const copy = () =>
    void navigator.clipboard?.writeText(text).then(
      () => setCopied(true),
      () => setCopied(false),
    )
  return (
    <Button kind={isQuiet ? 'quiet' : 'secondary'} icon={isCopied ? Check : Copy} onPress={copy}>
      {say(isCopied ? 'action.copied' : 'action.copy')}
    </Button>
  )
}

/** A text to be taken elsewhere, within a line. @param isClipped whether its beginning is enough, where there is little room */
export const Copyable = ({ text, isClipped = false }: { readonly text: string; readonly isClipped?: boolean }) => (
  <span className={isClipped ? 'copyable clipped' : 'copyable'}>
    <code>{text}</code>
    <CopyButton text={text} isQuiet />
  </span>
)

/** A secret that is shown this once. @param label what it is @param once that it is not shown again, and where it belongs */
export const Secret = ({ value, label, once, onKept }: { readonly value: string; readonly label: string; readonly once: string; onKept(): void }) => (
  <div className="secret">
    <p>{once}</p>
    <output aria-label={label}>{value}</output>
    <div className="actions">
      <CopyButton text={value} />
      <Button kind="primary" onPress={onKept}>
        {say('secret.kept')}
      </Button>
    </div>
  </div>
)
