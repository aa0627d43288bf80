# The Homebrew formula: installs the npm package, man pages and completions. tools/formula.mjs fills in the values.
class Imgctl < Formula
  desc "@DESCRIPTION@"
  url "@URL@"
  sha256 "@SHA256@"
  license "@LICENSE@"

  depends_on "node"

  def install
    system "npm", "install", *std_npm_args
    bin.install_symlink libexec.glob("bin/*")

    # Links, because the program prints its completions from its own folder.
    package = libexec/"lib/node_modules/imgctl"
    bash_completion.install_symlink package/"completions/imgctl.bash" => "imgctl"
    zsh_completion.install_symlink package/"completions/_imgctl"
    fish_completion.install_symlink package/"completions/imgctl.fish"
    man1.install_symlink package.glob("man/*.1")
    man7.install_symlink package.glob("man/*.7")
  end

  test do
    assert_equal version.to_s, shell_output("#{bin}/imgctl --version").strip
    assert_match "sample.ova", shell_output("#{bin}/imgctl demo")
  end
end
