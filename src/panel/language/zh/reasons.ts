/** What the server says about values for which it has no code of its own: its English text, and the same in Chinese. */
export const reasons: ReadonlyArray<readonly [said: RegExp, chinese: string]> = [
  [/^longer than (\d+) characters$/, '最多 $1 个字符。'],
  [/^"([^]*)" is not host:port$/, '“$1”不是 host:port 的形式。'],
  [/^not an IP address$/, '这不是 IP 地址。'],
  [/^a (?:secret|p2p) tunnel needs one, so that visitors can connect$/, '此类型的隧道需要密码，访客才能连接。'],
  [/^holds a blank, a \? or a #$/, '不能包含空格、? 或 #。'],
  [/^holds dot segments, or a NUL, that no request can have$/, '不能包含 . 或 .. 路径段。'],
  [/^holds a blank or a control character$/, '不能包含空格或控制字符。'],
  [/^holds a NUL character$/, '不能包含 NUL 字符。'],
  [/^is not ASCII: write an international name in its form that begins with xn--$/, '只能使用 ASCII 字符：国际化域名请填写以 xn-- 开头的形式。'],
  [/^only PEM text is accepted, no file path$/, '只接受 PEM 文本，不接受文件路径。'],
  [/^line (\d+) is not Name: value$/, '第 $1 行不是“名称: 值”的形式。'],
  [/^not for a platform host, which has the certificate of its domain$/, '平台域名下的名称使用平台域名的证书，不需要 ACME。'],
  [/^not for a wildcard$/, 'ACME 不支持通配符域名。'],
  [/^not for an address$/, 'ACME 不支持 IP 地址。'],
  [/^only for a name with a dot$/, 'ACME 只支持含有点号的域名。'],
  [/^only for a name of at most (\d+) characters$/, 'ACME 只支持最多 $1 个字符的域名。'],
  [/^only for a name of letters, digits and hyphens$/, 'ACME 只支持由字母、数字和连字符组成的域名。'],
  [/^blank$/, '请输入内容。'],
  [/^\w+: expected a whole number from (\d+) to (\d+)$/, '请输入 $1 到 $2 之间的整数。'],
  [/^host empty$/, '请输入域名。'],
  [/^path must start with \/$/, '路径必须以 / 开头。'],
  [/^bad path$/, '路径无效。'],
  [/^certificate of (\S+): not yet valid or expired$/, '$1 的证书尚未生效或已过期。'],
  [/^certificate of (\S+): does not cover the wildcard$/, '证书不包含 $1。'],
  [/^certificate of (\S+): cannot load$/, '服务器无法读取 $1 的证书文件。'],
  [/^certificate of (\S+): empty$/, '$1 的证书文件为空。'],
  [/^certificate of (\S+): cannot parse$/, '$1 的文件不是证书，或私钥与证书不匹配。'],
  [/^platform domain [^]*: the pattern must be \*\.example\.com$/, '请填写 *.example.com 形式的域名。'],
  [/^platform domain [^]*: bad DNS name$/, '这不是有效的域名。'],
  [/^platform domain [^]*: certificate and key must be given both or none$/, '证书和私钥必须同时填写，或都留空。'],
  [/^platform domain [^]*: certificate and key are paths of files, not text$/, '请填写文件路径，而不是证书或私钥的内容。'],
  [/^platform domains (\S+) and (\S+) overlap$/, '平台域名 $1 和 $2 相互重叠。'],
  [/^platform domain (\S+) conflicts with existing wildcard host (\S+)$/, '平台域名 $1 与已有的通配符域名 $2 冲突。'],
];

/** A reason of the server in Chinese; as it is if it is none of those that forms cause. */
export function reason(text: string): string {
  const [said, chinese = text] = reasons.find(([each]) => each.test(text)) ?? [];
  return said === undefined ? text : text.replace(said, chinese);
}
