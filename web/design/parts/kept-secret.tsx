import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { Button } from './button.tsx'

/** A secret that is shown this once. @param words of its buttons and of what it is */
export function Secret({
  value,
  words,
  onKept,
}: {
  readonly value: string
  readonly words: { readonly label: string; readonly once: string; readonly copy: string; readonly copied: string; readonly kept: string }
  onKept(): void
}) {
  const [isCopied, setCopied] = useState(false)
  return (
    <div className="secret">
      <p>{words.once}</p>
      <output aria-label={words.label}>{value}</output>
      <div className="actions">
        <Button
          icon={isCopied ? Check : Copy}
          onPress={() =>
            void navigator.clipboard?.writeText(value).then(
              () => setCopied(true),
              () => {},
            )
          }
        >
          {isCopied ? words.copied : words.copy}
        </Button>
        <Button kind="primary" onPress={onKept}>
          {words.kept}
        </Button>
      </div>
    </div>
  )
}
